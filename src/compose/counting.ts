import { charge, getAccount } from "../accounts/authenticate.js";
import { openCallRecorder } from "../accounts/calls/record-calls.js";
import { openLastUsed } from "../accounts/last-used.js";
import { openUsageCounter } from "../accounts/usage.js";
import { isNotWritable } from "../errors.js";
import type { Quota } from "../memory/ports/quota.js";
import type { ChargeOutcome } from "../observability/metrics.js";
import { isPanic } from "../storage/local/durably.js";
import type { Storage } from "../storage/storage.js";
import { watchStorage } from "../storage/watch.js";
import { type Context, warn } from "./context.js";

/** Time between two writes of what was counted. */
const FLUSH_MS = 5_000;

/**
 * Opens the counters of calls, for the plan and for the owner's eyes, and of when keys were used; and the accounts and
 * grants as callers reach them: while the database is known to be away, nobody waits for it.
 */
export function openCounting(context: Context, storage: Storage) {
  const { config, logger, closers, readiness, telemetry } = context;
  const { accounts } = storage;
  const onTrouble = warn(context);
  const usage = openUsageCounter(storage.usage, {
    accounts,
    everyMs: FLUSH_MS,
    onTrouble: onTrouble("usage", "usage is not written; it is tried again"),
  });
  closers.push(() => usage.close());
  const calls = openCallRecorder(storage.calls, {
    accounts,
    names: storage.names,
    days: config.callRecordDays,
    max: config.callRecordsMax,
    onLost: (records) => telemetry.metrics?.lostCallRecords.inc(records),
    onTrouble: onTrouble("calls", "calls are not recorded; it is tried again"),
  });
  closers.push(() => calls.close());
  const lastUsed = openLastUsed(accounts, {
    everyMs: FLUSH_MS,
    onTrouble: onTrouble("last_used", "when keys were last used is not written"),
  });
  closers.push(() => lastUsed.close());
  const watch = watchStorage(storage, (trouble) => {
    const away = trouble !== undefined;
    if (!away) logger.info("the database is back");
    else
      logger.error(
        { err: trouble },
        isNotWritable(trouble) ? "the database cannot write" : "the database is away",
      );
    telemetry.metrics?.storageAvailable.set(away ? 0 : 1);
    readiness.setAway("database", away);
    if (isPanic(trouble)) readiness.alive = false;
  });
  closers.push(() => watch.close());
  const watched = {
    accounts: watch.watched(accounts),
    grants: watch.watched(storage.grants),
    grantSecrets: watch.watched(storage.grantSecrets),
  };
  const refunded = (outcome: ChargeOutcome, calls = 1) => telemetry.metrics?.charges.inc({ outcome }, calls);
  const quota: Quota = {
    charge: (caller, calls) => charge(watched.accounts, caller, calls),
    verify: async (caller) => {
      await getAccount(watched.accounts, caller);
    },
    refund: ({ accountId }, calls) =>
      accounts.refund(accountId, calls).then(
        () => refunded("refunded", calls),
        (error) => {
          refunded("refund_failed", calls);
          logger.warn({ err: error, accountId }, "a call that failed stays paid");
        },
      ),
    count: (caller, counted) => {
      usage.count(caller.accountId, counted);
      calls.count(caller, counted);
    },
  };
  return { usage, calls, lastUsed, quota: telemetry.quota(quota), ...watched };
}
