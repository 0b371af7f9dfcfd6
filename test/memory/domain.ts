import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/concurrency/clock.js";
import { systemClock } from "../../src/concurrency/clock.js";
import { openIndexes } from "../../src/index/open.js";
import type { Usearch, Vectors } from "../../src/index/vectors/usearch.js";
import type { VectorPart } from "../../src/index/vectors/usearch-index.js";
import { Idempotency } from "../../src/memory/idempotency/idempotency.js";
import { type Appending, Namespaces } from "../../src/memory/log/namespaces.js";
import type { ModelVersions } from "../../src/memory/models/model-versions.js";
import type { Ports } from "../../src/memory/operations/ports.js";
import type { Indexes } from "../../src/memory/ports/index.js";
import type { Appended, Log, Lost, Sequenced, Stored } from "../../src/memory/ports/log.js";
import type { Names, Scope } from "../../src/memory/ports/names.js";
import type { SecondaryIndexes } from "../../src/memory/ports/secondary-indexes.js";
import { openLocal } from "../../src/storage/local/open.js";
import type { Storage } from "../../src/storage/storage.js";
import { aMemory } from "../contract/samples.js";
import { openUsearch } from "../index/vectors/built.js";
import type { Point } from "../index/vectors/clouds.js";
import { oneModelVersion } from "./models.js";
import { type PlainIndex, plainIndex } from "./plain-index.js";
import { unsavedIndexes, vectorsOf } from "./unsaved-indexes.js";

export const DIMENSIONS = 16;
export const CALLER = { accountId: "acc_1", keyHash: "hash", access: "full" } as const;
export const scopeOf = (namespace: string): Scope => ({ accountId: CALLER.accountId, namespace });

export const newFolder = () => mkdtempSync(join(tmpdir(), "recalld-memory-"));

export interface TestServiceOptions {
  readonly dataDir?: string;
  readonly clock?: Clock;
  readonly dimensions?: number;
  /** Number of rows, and of newest rows, above which they are sealed in files. */
  readonly tailRowsMax?: number;
}

/** A local database, with the domains of any number of processes over it, one after another. */
export class TestService {
  readonly dataDir: string;
  readonly #domains: Domain[] = [];

  private constructor(
    readonly storage: Storage,
    private readonly options: TestServiceOptions & { readonly dataDir: string },
  ) {
    this.dataDir = options.dataDir;
  }

  static async open(options: TestServiceOptions = {}): Promise<TestService> {
    const dataDir = options.dataDir ?? newFolder();
    return new TestService(await openLocal({ dataDir }), { ...options, dataDir });
  }

  get vectors(): Usearch {
    const { dimensions = DIMENSIONS, tailRowsMax = 100 } = this.options;
    return openUsearch({
      dimensionsOf: () => dimensions,
      exactRowsMax: tailRowsMax,
      tailRowsMax,
      sealingShare: Number.POSITIVE_INFINITY,
      clock: systemClock,
    });
  }

  /** Folder of the index files of a process that has just started. */
  get indexFolder(): string {
    return join(this.dataDir, "index");
  }

  /** The indexes of a process that has just started. Those of words are so small that they have no files. */
  get indexes(): Indexes {
    return openIndexes({
      vectors: this.vectors,
      folder: this.indexFolder,
      clock: systemClock,
      quietMs: 5,
      onTrouble: () => {},
    });
  }

  /** True if vectors of a log are in whole files. */
  hasSnapshot(logId: string): boolean {
    const folder = join(this.indexFolder, logId);
    return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith(".json"));
  }

  /** Makes the domain of a process that has just started. */
  domain(changes: DomainOptions = {}): Domain {
    const { clock = systemClock } = this.options;
    const indexes = changes.vectors === undefined ? { indexes: this.indexes } : {};
    const domain = new Domain({ storage: this.storage, clock, ...indexes, ...changes });
    this.#domains.push(domain);
    return domain;
  }

  /** Writes memories straight into a namespace's log. */
  async write(namespace: string, entries: readonly Appended[]): Promise<string> {
    const { log, names } = this.storage;
    const logId = await names.create(scopeOf(namespace));
    const last = (await log.last(logId))?.sequence ?? 0;
    for (let i = 0; i < entries.length; i += 500) {
      await log.append({ logId, from: last + 1 + i, entries: entries.slice(i, i + 500) });
    }
    return logId;
  }

  async close(): Promise<void> {
    for (const domain of this.#domains) await domain.namespaces.close();
    await this.storage.close();
  }
}

export interface DomainOptions {
  readonly log?: Log;
  readonly names?: Names;
  readonly secondaryIndexes?: SecondaryIndexes;
  /** Vectors of its indexes, which have no other files. */
  readonly vectors?: Vectors;
  readonly indexes?: Indexes;
  readonly indexMemoryBytesMax?: number;
  readonly clock?: Clock;
  readonly modelVersions?: ModelVersions;
}

/** Domain of one process. */
export class Domain {
  readonly namespaces: Namespaces;
  readonly ports: Ports;
  readonly log: Log;
  readonly troubles: unknown[] = [];
  readonly lost: Sequenced<Lost>[] = [];

  constructor({
    storage,
    vectors,
    indexes = unsavedIndexes({}, vectors && { vectors }).indexes,
    clock,
    log = storage.log,
    names = storage.names,
    secondaryIndexes = storage.secondaryIndexes,
    indexMemoryBytesMax = Number.MAX_SAFE_INTEGER,
    modelVersions = oneModelVersion(DIMENSIONS),
  }: DomainOptions & { storage: Storage; clock: Clock }) {
    this.log = log;
    const { erasures, calls, claims } = storage;
    const common = { log, names, secondaryIndexes, modelVersions, erasures, indexes, clock };
    this.namespaces = new Namespaces({
      ...common,
      indexMemoryBytesMax,
      onLost: (_, what) => this.lost.push(what),
      onTrouble: (error) => this.troubles.push(error),
    });
    const quota = { charge: async () => {}, verify: async () => {}, refund: async () => {}, count: () => {} };
    const { namespaces } = this;
    const eraseCalls = (scope: Scope, untilMs: number) => calls.erase({ ...scope, untilMs });
    const idempotency = new Idempotency({ ...common, claims, exclusive: true });
    this.ports = { ...common, namespaces, quota, idempotency, eraseCalls };
  }

  async append(namespace: string, memory: Stored): Promise<void> {
    await appendTo(this.namespaces, namespace, { memoryIn: async () => memory, idempotent: false });
  }

  /** Returns the ids of the nearest memories, best first; undefined if the namespace does not exist. */
  recall(namespace: string, vector: Float32Array, limit = 5): Promise<string[] | undefined> {
    return this.namespaces.using(scopeOf(namespace), async ({ replica }) => {
      await replica.current();
      const query = { vectors: [vector], wanted: limit };
      const { ranked } = await replica.searching((search) => search.best(query));
      return ranked.map(({ entry }) => entry.id);
    });
  }

  size(namespace: string): Promise<number | undefined> {
    return this.namespaces.using(scopeOf(namespace), async ({ replica }) => {
      await replica.current();
      return replica.index.size;
    });
  }
}

/** Appends one memory, whose error is thrown. */
export async function appendTo(
  namespaces: Namespaces,
  namespace: string,
  { memoryIn, idempotent }: { memoryIn: () => Promise<Stored>; idempotent: boolean },
): Promise<void> {
  const settled: Appending["settled"] = new Map();
  const entriesIn = async () => [await memoryIn()];
  await namespaces.append(scopeOf(namespace), {
    entriesIn,
    authenticate: async () => {},
    idempotent,
    settled,
  });
  for (const outcome of settled.values()) if (outcome.status === "rejected") throw outcome.reason;
}

/** Makes a memory of a vector. Its number identifies it. */
export function memoryOf(
  { sequence, vector }: Pick<Point, "sequence" | "vector">,
  given: Partial<Stored> = {},
): Stored {
  return aMemory({ vectors: vector, id: `mem_${sequence}`, ...given });
}

/** Makes vectors of indexes that only remember. It lists those opened with their log. */
export function plainVectors(change: (logId: string, nth: number) => Parameters<typeof plainIndex>[0]) {
  const opened: { logId: string; index: PlainIndex }[] = [];
  const open = (logId: string) => {
    const nth = opened.filter((one) => one.logId === logId).length;
    const index = plainIndex(change(logId, nth));
    opened.push({ logId, index });
    return index;
  };
  return { vectors: vectorsOf(open), opened };
}

/** Makes the port of indexes that all have the same vectors. */
export function indexesWith(index: VectorPart): Indexes {
  return unsavedIndexes({}, { vectors: { ...plainVectors(() => ({})).vectors, open: () => index } }).indexes;
}

/** Waits until a condition holds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; !(await holds()); i++) {
    if (i > 1000) throw new Error("it never came to be so");
    await systemClock.sleep(10);
  }
}
