import { LRUCache } from "lru-cache";
import { unavailable } from "../../errors.js";
import { authorizeFree } from "../input/authorize.js";
import { scopeOf } from "../input/namespace.js";
import { weightOf } from "../pacing/bounds.js";
import type { Clock } from "../pacing/clock.js";
import type { Log, Numbered, Seen } from "../ports/log.js";
import type { Projector } from "../ports/projector.js";
import type { Caller, Quota } from "../ports/quota.js";
import { vectorsOf } from "../ports/windows.js";
import { fetchAll } from "../reading/fetch.js";
import { shownOf } from "../versions/showing.js";
import { isExpired } from "../versions/standing.js";
import { endOf, type LogEnd } from "./end-of.js";

/** Maximum number of points of a map; of more memories, a sample is shown. */
export const MAP_POINTS_MAX = 5_000;
/** Entries per read and per map. A log with almost all memories deleted shows fewer points. */
const READ_MANY = 256;
const READ_ENTRIES_MAX = 200_000;
/** Bytes read for one map. A namespace of long memories shows fewer points. */
const READ_BYTES_MAX = 268_435_456;
/** Number of maps kept, and their maximum age: a memory on a map may be erased meanwhile. */
const MAPS_MAX = 16;
const MAP_KEPT_MS = 60_000;
/** Maximum number of maps drawn at a time. */
const DRAWING_MAX = 4;

export interface MapPoint {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  /** Time from which it is left out; not shown to callers. */
  readonly expiresAtMs?: number | undefined;
}

export interface NamespaceMap {
  readonly points: readonly MapPoint[];
  /** Number of memories in the namespace. */
  readonly memories: number;
}

export interface MapPorts {
  readonly log: Log;
  readonly projector: Projector;
  readonly clock: Clock;
}

/** Draws maps of namespaces, and keeps the most recently used ones. */
export class Maps {
  readonly #kept: LRUCache<string, Promise<NamespaceMap>>;
  #drawing = 0;

  constructor(private readonly ports: MapPorts) {
    const perf = { now: () => ports.clock.nowMs() };
    this.#kept = new LRUCache({ max: MAPS_MAX, ttl: MAP_KEPT_MS, ttlResolution: 0, perf });
  }

  /** Answers the map of a log up to its last entry. */
  of(end: LogEnd): Promise<NamespaceMap> {
    const key = `${end.logId}:${end.last}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const map = this.#draw(end);
    this.#kept.set(key, map);
    map.catch(() => this.#kept.delete(key));
    return map;
  }

  async #draw(end: LogEnd): Promise<NamespaceMap> {
    if (this.#drawing >= DRAWING_MAX) throw unavailable("too many maps are being drawn");
    this.#drawing++;
    try {
      return await draw(this.ports, end);
    } finally {
      this.#drawing--;
    }
  }
}

/** Answers a namespace as a map; one that does not exist is empty. Costs nothing. */
export async function mapNamespace(
  { quota, log, clock, maps }: { quota: Quota; log: Log; clock: Clock; maps: Maps },
  { caller, ...request }: { caller: Caller; namespace: string },
): Promise<NamespaceMap> {
  const scope = scopeOf({ caller, ...request });
  await authorizeFree(quota, caller, { writes: false, namespace: scope.namespace });
  const end = await endOf(log, scope);
  if (end === undefined) return { points: [], memories: 0 };
  const { points, memories } = await maps.of(end);
  const nowMs = clock.wallMs();
  return { points: points.filter((point) => !isExpired(point, nowMs)), memories };
}

async function draw({ log, projector, clock }: MapPorts, end: LogEnd): Promise<NamespaceMap> {
  const { memories } = await log.measure(end);
  const sampled: Row[] = [];
  const wanted = Math.min(memories, MAP_POINTS_MAX);
  const numbers = scattered(end.last);
  let bytes = 0;
  const isEnough = () => sampled.length >= wanted || bytes >= READ_BYTES_MAX;
  for (let read = 0; !isEnough() && read < READ_ENTRIES_MAX; read += READ_MANY) {
    const sequences = [...take(numbers, READ_MANY)];
    if (sequences.length === 0) break;
    for await (const some of fetchAll(log, { logId: end.logId, sequences, what: "vectors" })) {
      const shown = await shownOf(
        { log, logId: end.logId, nowMs: clock.wallMs(), includeSuperseded: false },
        some,
      );
      sampled.push(...shown.map(rowOf));
      for (const { entry } of some) bytes += weightOf(entry);
      if (isEnough()) break;
      await clock.yield();
    }
  }
  // Sorted by the log's order: databases answer in different orders, and sums would round differently.
  const rows = sampled.slice(0, wanted).sort((a, b) => a.sequence - b.sequence);
  return { points: await place(projector, rows), memories };
}

interface Row {
  readonly sequence: number;
  readonly id: string;
  readonly expiresAtMs: number | undefined;
  readonly vector: Float32Array;
}

/** Reduces a memory to its vector: 5,000 long texts would take a third of a gigabyte. */
function rowOf({ sequence, entry }: Numbered<Seen["vectors"]>): Row {
  const { id, expiresAtMs } = entry;
  return { sequence, id, expiresAtMs, vector: centre(vectorsOf(entry)) };
}

/** Averages the vectors of a long text's windows. */
function centre(vectors: readonly Float32Array[]): Float32Array {
  const [first, ...others] = vectors as [Float32Array, ...Float32Array[]];
  if (others.length === 0) return first;
  return first.map((x, i) => others.reduce((sum, vector) => sum + (vector[i] as number), x) / vectors.length);
}

async function place(projector: Projector, rows: readonly Row[]): Promise<MapPoint[]> {
  const dimensions = rows[0]?.vector.length ?? 0;
  if (dimensions === 0) return [];
  const packed = new Float32Array(rows.length * dimensions);
  for (const [i, { vector }] of rows.entries()) packed.set(vector, i * dimensions);
  const places = await projector.project({ rows: packed, dimensions });
  return rows.map(({ id, expiresAtMs }, i) => {
    return { id, expiresAtMs, x: places[2 * i] as number, y: places[2 * i + 1] as number };
  });
}

/**
 * Generates the numbers 1 to `last`, each once, so that every beginning of the sequence is spread over all.
 * The step is the golden ratio of `last`, made coprime to it, and so reaches every number before any twice.
 */
export function* scattered(last: number): Generator<number> {
  let step = Math.max(1, Math.round(last * 0.618_033_988_75));
  while (gcd(step, last) > 1) step++;
  for (let i = 0, at = 0; i < last; i++, at = (at + step) % last) yield at + 1;
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

function* take(numbers: Generator<number>, count: number): Generator<number> {
  for (let i = 0; i < count; i++) {
    const { value, done } = numbers.next();
    if (done) return;
    yield value;
  }
}
