import { type Entry, entryAt, forgottenBy, isEnd, type Sequenced, type Stored } from "../ports/log.js";
import { baseOf } from "../ports/model-version.js";
import { lostName } from "../ports/names.js";
import type { DomainPorts } from "../ports/ports.js";
import { vectorsOf } from "../ports/windows.js";
import { fetchAll } from "../versions/fetch.js";
import { allEntries, allErasures, allLogIds, allNames } from "./walk.js";

const ENTRIES_MANY = 512;
const ERASURES_MAX = 100_000;

export interface VerifyPorts
  extends Pick<DomainPorts, "log" | "names" | "secondaryIndexes" | "erasures" | "indexes"> {
  /** Number of dimensions of a log's vectors; undefined if the database has no model for the log. */
  dimensionsOf(logId: string): number | undefined;
}

export interface Verified {
  logIds: number;
  memories: number;
  erased: number;
  /** Logs whose index has files. */
  indexes: number;
  /** Segments of indexes whose files are damaged. They are not a problem: the next use builds them anew. */
  unusable: number;
  /** Interrupted or running erasures. They are not a problem: the next start finishes them. */
  unfinished: number;
  /** Problems, one line each; empty if the database is sound. */
  readonly problems: string[];
}

/**
 * Verifies every entry of every log, and all index files: numbers are dense, memories are complete, and
 * nothing is left of deleted ones.
 */
export async function verify(ports: VerifyPorts): Promise<Verified> {
  const problems: string[] = [];
  const pending = await pendingErasures(ports, (id) =>
    problems.push(`the record of the erasure ${id} is damaged`),
  );
  const counts = { logIds: 0, memories: 0, erased: 0, indexes: 0, unusable: 0, unfinished: pending.length };
  const verified: Verified = { ...counts, problems };
  const named = new Set<string>();
  for await (const each of allNames(ports.names)) {
    if ("lost" in each) problems.push(lostName(each).message);
    else named.add(each.logId);
  }
  for await (const logId of allLogIds(ports.log)) {
    await new LogVerifier(ports, logId, verified).run({ pending, isNamed: named.has(logId) });
  }
  for (const logId of await ports.indexes.stored()) {
    verified.indexes++;
    verified.unusable += await ports.indexes.countUnusable(logId);
    const last = await ports.log.last(logId);
    if (last === undefined || isEnd(last.entry)) {
      problems.push(`${logId}: index files are left of a log that has ended`);
    }
  }
  return verified;
}

async function pendingErasures(
  { secondaryIndexes, erasures }: VerifyPorts,
  onLost: (id: string) => void = () => {},
): Promise<Pending[]> {
  const pending: Pending[] = await secondaryIndexes.unerased({ limit: ERASURES_MAX });
  for await (const each of allErasures(erasures)) {
    if ("lost" in each) onLost(each.id);
    else if (each.logId !== undefined) pending.push({ logId: each.logId });
  }
  return pending;
}

/** An erasure that is not finished: of one memory, or of a whole log. */
interface Pending {
  readonly logId: string;
  readonly sequence?: number | undefined;
}

/** Verifies one log and its index files. */
class LogVerifier {
  /** Number of each memory's last version. */
  readonly #ids = new Map<string, number>();
  /** The memory that has each external id: its number, and when it expires. */
  readonly #externalIds = new Map<string, { sequence: number; expiresAtMs: number }>();
  readonly #stored = new Set<number>();
  /** Numbers that tombstones and later versions tell to forget. */
  readonly #targets = new Set<number>();
  readonly #dimensions: number | undefined;
  #ended: "drop" | "moved" | undefined;

  constructor(
    private readonly ports: VerifyPorts,
    private readonly logId: string,
    private readonly verified: Verified,
  ) {
    this.#dimensions = ports.dimensionsOf(logId);
  }

  async run({ pending, isNamed }: { pending: readonly Pending[]; isNamed: boolean }): Promise<void> {
    const { ports, logId, verified } = this;
    verified.logIds++;
    const range = { logId, from: 1, limit: ENTRIES_MANY, projection: "all" } as const;
    for await (const entries of allEntries(ports.log, range)) for (const each of entries) this.#step(each);
    // Copies in other model versions are erased with the original.
    const isOfThis = (each: Pending) => baseOf(each.logId) === baseOf(logId);
    /** Numbers that are being erased; undefined stands for the whole log. */
    const erasing = new Set(pending.filter(isOfThis).map(({ sequence }) => sequence));
    const left = new Map<number, string>();
    for (const target of this.#targets) {
      if (this.#stored.has(target) && !erasing.has(target))
        left.set(target, "was deleted, but is not erased");
    }
    // Until the name points to the copy, a log that moves is the only complete one.
    const isMoving = this.#ended === "moved" && isNamed;
    if (isMoving) verified.unfinished++;
    if (this.#ended !== undefined && !isMoving && !erasing.has(undefined)) {
      const how = this.#ended === "drop" ? "was dropped" : "has moved";
      for (const sequence of this.#stored) left.set(sequence, `${how}, but is not erased`);
    }
    if (left.size > 0) {
      // Over MongoDB, servers may have begun to erase it since: what is not pending now is erased by now.
      for (const each of (await pendingErasures(ports)).filter(isOfThis)) erasing.add(each.sequence);
      const isPending = (sequence: number) => erasing.has(sequence) || erasing.has(undefined);
      for await (const some of fetchAll(ports.log, {
        logId,
        sequences: [...left.keys()],
        projection: "header",
      }))
        for (const { sequence } of some)
          if (!isPending(sequence)) this.#complain(sequence, left.get(sequence) ?? "");
    }
    for (const { sequence, opId } of await ports.indexes.marksOf(logId)) {
      if ((await entryAt(ports.log, logId, sequence))?.opId === opId) continue;
      this.#complain(sequence, "the index files are of another log");
    }
    // Deletions after the files were written must have been made in them too.
    const deleted = [...this.#targets].filter((target) => !erasing.has(target));
    for (const target of await ports.indexes.holds(logId, deleted)) {
      this.#complain(target, "was deleted, but an index file has it; using the namespace takes it out");
    }
  }

  #complain(sequence: number, what: string): void {
    this.verified.problems.push(`${this.logId}, entry ${sequence}: ${what}`);
  }

  #step({ sequence, entry }: Sequenced<Entry>): void {
    if (this.#ended) this.#complain(sequence, "stands after the log's end");
    if (entry.op === "lost") this.#complain(sequence, entry.reason);
    if (isEnd(entry)) this.#ended = entry.op;
    const target = forgottenBy(entry);
    if (target !== undefined) this.#targets.add(target);
    if (entry.op === "erased") this.verified.erased++;
    if (entry.op !== "store" && entry.op !== "erased") return;
    const before = this.#ids.get(entry.id);
    // An entry that was damaged when it was copied has no id.
    if (entry.id !== "" && before !== entry.replaces) {
      const what = before === undefined ? "replaces another memory" : "repeats the id of an earlier memory";
      this.#complain(sequence, what);
    }
    this.#ids.set(entry.id, sequence);
    if ((entry.supersedes ?? []).some((each) => each >= sequence)) {
      this.#complain(sequence, "supersedes a later entry");
    }
    if (entry.op === "store") this.#stepMemory(sequence, entry);
  }

  #stepMemory(sequence: number, { externalId, replaces, ...memory }: Stored): void {
    const { expiresAtMs = Number.POSITIVE_INFINITY, updatedAtMs = memory.createdAtMs } = memory;
    this.verified.memories++;
    this.#stored.add(sequence);
    if (externalId !== undefined) {
      // No two living memories have the same external id. One that has expired is erased up to a minute later.
      const earlier = this.#externalIds.get(externalId);
      const isGone =
        earlier === undefined ||
        earlier.sequence === replaces ||
        earlier.expiresAtMs <= updatedAtMs ||
        this.#targets.has(earlier.sequence);
      if (!isGone) this.#complain(sequence, "repeats the external id of an earlier memory");
      this.#externalIds.set(externalId, { sequence, expiresAtMs });
    }
    const dimensions = this.#dimensions;
    if (dimensions !== undefined && vectorsOf(memory).some(({ length }) => length !== dimensions)) {
      this.#complain(sequence, "its vector is of another model");
    }
    if (!memory.vectors.every(Number.isFinite)) this.#complain(sequence, "its vector is not finite");
  }
}
