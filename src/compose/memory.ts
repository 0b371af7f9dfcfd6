import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../config.js";
import { Maps } from "../memory/calls/map.js";
import { keepSweeping } from "../memory/erasure/sweeping.js";
import type { Editions } from "../memory/generations/generations.js";
import { Mover } from "../memory/generations/mover.js";
import { Once } from "../memory/idempotency/idempotency.js";
import { Namespaces } from "../memory/log/namespaces.js";
import { systemClock } from "../memory/pacing/clock.js";
import type { Meter } from "../memory/ports/quota.js";
import type { MemoryPorts } from "../server/rpc/memory-service.js";
import type { Storage } from "../storage/storage.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { ThreadProjector } from "../vectors/projection/projector.js";
import type { Closers } from "./closers.js";
import { openVectors } from "./storage.js";
import { warn } from "./warn.js";

interface MemoryOptions {
  readonly logger: FastifyBaseLogger;
  readonly storage: Storage;
  readonly editions: Editions;
  readonly meter: Meter;
  readonly closers: Closers;
  readonly telemetry: Telemetry;
}

export type OpenMemory = MemoryPorts & { readonly namespaces: Namespaces; readonly mover: Mover };

/** The room with all it stands on. */
export function openMemory(
  config: Config,
  { storage, editions, meter, logger, closers, telemetry }: MemoryOptions,
): OpenMemory {
  const onTrouble = warn({ logger, telemetry });
  const clock = systemClock;
  const { log, claims, erasures, recent, exclusive } = storage;
  const vectors = openVectors(config, (incarnation) => editions.dimensionsOf(incarnation));
  const mover = new Mover({ log, erasures, editions, clock });
  const namespaces = new Namespaces({
    log,
    editions,
    mover,
    clock,
    vectors,
    recent,
    indexMemoryBytesMax: config.indexMemoryBytesMax,
    steps: telemetry.steps,
    onCaughtUp: (entries) => telemetry.caughtUp(entries),
    onLost: (incarnation, { sequence, entry }) => {
      telemetry.lostEntry();
      logger.error({ incarnation, sequence, reason: entry.reason }, "an entry of the log is lost");
    },
    onTrouble: onTrouble("index", "index upkeep"),
  });
  closers.push(() => namespaces.close());
  const once = new Once({ claims, log, clock, exclusive });
  const projector = new ThreadProjector();
  closers.push(() => projector.close());
  const maps = new Maps({ log, projector, clock });
  const isClosed = (accountId: string) => storage.accounts.isClosed(accountId);
  const memory = { editions, mover, namespaces, meter, log, erasures, vectors, once, maps, clock };
  closers.push(
    keepSweeping(
      { ...memory, isClosed },
      {
        onSwept: (finished) => logger.info({ finished }, "swept"),
        onTrouble: onTrouble("sweeping", "sweeping failed; it is tried again in a minute"),
      },
    ),
  );
  return memory;
}
