import type { Calls } from "../accounts/calls/calls.js";
import { systemClock } from "../concurrency/clock.js";
import { startSweeping } from "../memory/erasure/sweeping.js";
import { Idempotency } from "../memory/idempotency/idempotency.js";
import { Namespaces } from "../memory/log/namespaces.js";
import type { ModelVersions } from "../memory/models/model-versions.js";
import { announcedLog, announcedNames, News } from "../memory/operations/stream/news.js";
import { OpenStreams, type StreamPorts } from "../memory/operations/stream/open-streams.js";
import type { Scope } from "../memory/ports/names.js";
import type { Quota } from "../memory/ports/quota.js";
import type { Storage } from "../storage/storage.js";
import { type Context, warn } from "./context.js";
import { openIndexFiles } from "./storage.js";

interface MemoryOptions {
  readonly storage: Storage;
  readonly modelVersions: ModelVersions;
  readonly quota: Quota;
  readonly calls: Pick<Calls, "erase">;
}

export function openMemory(
  context: Context,
  { storage, modelVersions, quota, calls }: MemoryOptions,
): StreamPorts {
  const { config, logger, closers, telemetry } = context;
  const onTrouble = warn(context);
  const clock = systemClock;
  const { claims, erasures, exclusive, secondaryIndexes } = storage;
  const news = new News(clock);
  const log = announcedLog(storage.log, news);
  const names = announcedNames(storage.names, news);
  const { indexes, closeThreads } = openIndexFiles(config, {
    dimensionsOf: (logId) => modelVersions.pins.dimensionsOf(logId),
    timer: telemetry.timer,
    onChecked: ({ found, compared }) => {
      telemetry.metrics?.recallChecked.inc(compared);
      telemetry.metrics?.recallFound.inc(found);
    },
    onTrouble: onTrouble("index", "a part of an index cannot be written or searched; it is tried again"),
  });
  closers.push(closeThreads);
  const common = { log, names, secondaryIndexes, modelVersions, erasures, clock, indexes };
  const namespaces = new Namespaces({
    ...common,
    exclusive,
    indexMemoryBytesMax: config.indexMemoryBytesMax,
    timer: telemetry.timer,
    onCaughtUp: (entries) => telemetry.metrics?.caughtUp.inc(entries),
    onLost: (logId, { sequence, entry }) => {
      telemetry.metrics?.lostEntries.inc();
      logger.error({ logId, sequence, reason: entry.reason }, "an entry of the log is lost");
    },
    onTrouble: onTrouble("index", "index maintenance"),
  });
  closers.push(() => namespaces.close());
  const idempotency = new Idempotency({ ...common, claims, exclusive });
  const isClosed = (accountId: string) => storage.accounts.isClosed(accountId);
  const memory = {
    ...common,
    recallMode: config.recallMode,
    onSecret: config.onSecret,
    topKMax: config.topKMax,
    namespaces,
    quota,
    idempotency,
    eraseCalls: (scope: Scope, untilMs: number) => calls.erase({ ...scope, untilMs }),
    news,
    streams: new OpenStreams(clock),
  };
  closers.push(
    startSweeping(
      { ...memory, exclusive, isClosed },
      {
        onSwept: (finished) => logger.info({ finished }, "swept"),
        onTrouble: onTrouble("sweeping", "sweeping failed; it is tried again in a minute"),
      },
    ),
  );
  return memory;
}
