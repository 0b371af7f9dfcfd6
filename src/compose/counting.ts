import type { FastifyBaseLogger } from "fastify";
import { RecentCalls } from "../accounts/calls/recent-calls.js";
import { UsageShares } from "../accounts/calls/usage-shares.js";
import { UsageCounter } from "../accounts/count-usage.js";
import { LastUsed } from "../accounts/last-used.js";
import { charge, getAccount } from "../accounts/quota.js";
import type { Usage } from "../accounts/usage.js";
import { isNotWritable } from "../errors.js";
import type { Quota } from "../memory/ports/quota.js";
import type { Readiness } from "../server/port/readiness.js";
import type { Storage } from "../storage/storage.js";
import { StorageWatch } from "../storage/watch.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import type { Closers } from "./closers.js";
import { warn } from "./warn.js";

/** Time between two writes of what was counted. */
const FLUSH_MS = 5_000;

/** Opens the counters of calls, for the plan and for the owner's eyes, and of when keys were used. */
export function openCounting(
  storage: Storage,
  {
    logger,
    closers,
    readiness,
    telemetry,
  }: { logger: FastifyBaseLogger; closers: Closers; readiness: Readiness; telemetry: Telemetry },
) {
  const { accounts } = storage;
  const onTrouble = warn({ logger, telemetry });
  const usage = new UsageCounter(storage.usage, {
    everyMs: FLUSH_MS,
    onTrouble: onTrouble("usage", "usage is not written; it is tried again"),
  });
  closers.push(() => usage.close());
  const usageShares = new UsageShares();
  const recentCalls = new RecentCalls();
  const lastUsed = new LastUsed(accounts, {
    everyMs: FLUSH_MS,
    onTrouble: onTrouble("last_used", "when keys were last used is not written"),
  });
  closers.push(() => lastUsed.close());
  const watch = new StorageWatch(storage, (trouble) => {
    const away = trouble !== undefined;
    if (!away) logger.info("the database is back");
    else
      logger.error(
        { err: trouble },
        isNotWritable(trouble) ? "the database cannot write" : "the database is away",
      );
    telemetry.storageIsAway(away);
    readiness.setAway(away);
  });
  closers.push(() => watch.close());
  const quota: Quota = {
    charge: async (caller, calls) => {
      watch.expectThere();
      await charge(accounts, caller, calls);
    },
    verify: async (caller) => {
      watch.expectThere();
      await getAccount(accounts, caller);
    },
    refund: ({ accountId }, calls) =>
      accounts.refund(accountId, calls).then(
        () => telemetry.refunded("refunded", calls),
        (error) => {
          telemetry.refunded("refund_failed", calls);
          logger.warn({ err: error, accountId }, "a call that failed stays paid");
        },
      ),
    count: ({ accountId, keyHash }, call) => {
      usage.count(accountId, call);
      usageShares.count(accountId, { keyHash, ...call });
    },
  };
  const forgetting = {
    read: (of: Parameters<Usage["read"]>[0]) => usage.read(of),
    remove: (accountId: string) => {
      usageShares.forget(accountId);
      recentCalls.forget(accountId);
      return usage.remove(accountId);
    },
  };
  return { usage: forgetting, usageShares, recentCalls, lastUsed, quota: telemetry.quota(quota) };
}
