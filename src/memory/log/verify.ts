import type { LogErasure } from "../ports/erasures.js";
import { type Entry, forgottenBy, isEnd, type Sequenced, type Stored } from "../ports/log.js";
import { baseOf } from "../ports/model-version.js";
import type { Names } from "../ports/names.js";
import type { DomainPorts } from "../ports/ports.js";
import { vectorsOf } from "../ports/windows.js";
import { allLogIds, allNames } from "./walk.js";

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
  /** Recall of the indexes that have files, by some of their own vectors. */
  readonly recall: { found: number; compared: number };
  /** Interrupted or running erasures. They are not a problem: the next start finishes them. */
  unfinished: number;
  /** Problems, one line each; empty if the database is sound. */
  readonly problems: string[];
}

/**
 * Verifies every entry of every log, and all index files: numbers are dense, memories are complete, and
 * nothing is left of deleted ones. It is meant for a database that no server uses.
 */
export async function verify(ports: VerifyPorts): Promise<Verified> {
  const counted = { logIds: 0, memories: 0, erased: 0, indexes: 0 };
  const pending: Pending[] = [
    ...(await ports.erasures.pending(ERASURES_MAX)).filter(
      (each): each is LogErasure => each.logId !== undefined,
    ),
    ...(await ports.secondaryIndexes.unerased(ERASURES_MAX)),
  ];
  const recall = { found: 0, compared: 0 };
  const verified: Verified = { ...counted, recall, unfinished: pending.length, problems: [] };
  const living = await livingIn(ports.names);
  for await (const logId of allLogIds(ports.log)) {
    await verifyLog(ports, { logId, verified, pending, living });
  }
  for (const logId of await ports.indexes.stored()) {
    verified.indexes++;
    const { found, compared } = await ports.indexes.measureRecall(logId);
    recall.found += found;
    recall.compared += compared;
    const last = await ports.log.last(logId);
    if (last === undefined || isEnd(last.entry)) {
      verified.problems.push(`${logId}: index files are left of a log that has ended`);
    }
  }
  return verified;
}

/** An erasure that is not finished: of one memory, or of a whole log. */
type Pending = Pick<LogErasure, "logId" | "sequence">;

/** State of the walk along one log. */
interface Walk {
  /** Number of each memory's last version. */
  readonly ids: Map<string, number>;
  /** Number of the memory that has each external id. */
  readonly externalIds: Map<string, number>;
  readonly stored: Set<number>;
  /** Numbers that tombstones and later versions tell to forget. */
  readonly targets: Set<number>;
  ended: "drop" | "moved" | undefined;
}

interface Subject {
  readonly logId: string;
  readonly verified: Verified;
  readonly pending: readonly Pending[];
  readonly living: ReadonlySet<string>;
}

async function livingIn(names: Names): Promise<Set<string>> {
  const living = new Set<string>();
  for await (const { logId } of allNames(names)) living.add(logId);
  return living;
}

async function verifyLog(
  { log, indexes, dimensionsOf }: VerifyPorts,
  { logId, verified, pending, living }: Subject,
): Promise<void> {
  const walk: Walk = {
    ids: new Map(),
    externalIds: new Map(),
    stored: new Set(),
    targets: new Set(),
    ended: undefined,
  };
  const dimensions = dimensionsOf(logId);
  const complain = (sequence: number, what: string) =>
    verified.problems.push(`${logId}, entry ${sequence}: ${what}`);
  verified.logIds++;
  for (let from = 1; ; ) {
    const { entries, complete } = await log.read({ logId, from, limit: ENTRIES_MANY, what: "all" });
    for (const numbered of entries) step(numbered, { walk, verified, dimensions, complain });
    if (complete) break;
    from += entries.length;
  }
  // Copies in other model versions are erased with the original.
  const erasing = pending.filter((each) => baseOf(each.logId) === baseOf(logId));
  const isErasing = (sequence: number) => erasing.some((each) => each.sequence === sequence);
  for (const target of walk.targets)
    if (walk.stored.has(target) && !isErasing(target)) complain(target, "was deleted, but is not erased");
  // Until the name points to the copy, a log that moves is the only complete one.
  const isMoving = walk.ended === "moved" && living.has(logId);
  if (isMoving) verified.unfinished++;
  if (walk.ended !== undefined && !isMoving && !erasing.some(({ sequence }) => sequence === undefined)) {
    const how = walk.ended === "drop" ? "was dropped" : "has moved";
    for (const sequence of walk.stored) complain(sequence, `${how}, but is not erased`);
  }
  // Deletions after the files were written must have been made in them too.
  const deleted = [...walk.targets].filter((target) => !isErasing(target));
  for (const { sequence, opId } of await indexes.marksOf(logId)) {
    const at = { logId, from: sequence, limit: 1, what: "head" } as const;
    const [behind] = (await log.read(at)).entries;
    if (behind?.entry.opId !== opId) complain(sequence, "the index files are of another log");
  }
  for (const target of await indexes.holds(logId, deleted)) {
    complain(target, "was deleted, but an index file has it; using the namespace takes it out");
  }
}

interface StepOptions {
  readonly walk: Walk;
  readonly verified: Verified;
  readonly dimensions: number | undefined;
  complain(sequence: number, what: string): void;
}

function step(
  { sequence, entry }: Sequenced<Entry>,
  { walk, verified, dimensions, complain }: StepOptions,
): void {
  if (walk.ended) complain(sequence, "stands behind the log's end");
  if (entry.op === "lost") complain(sequence, entry.reason);
  if (isEnd(entry)) walk.ended = entry.op;
  const target = forgottenBy(entry);
  if (target !== undefined) walk.targets.add(target);
  if (entry.op === "erased") verified.erased++;
  if (entry.op !== "store" && entry.op !== "erased") return;
  const before = walk.ids.get(entry.id);
  // An entry that was damaged when it was copied has no id.
  if (entry.id !== "" && before !== entry.replaces) {
    const what = before === undefined ? "replaces another memory" : "repeats the id of an earlier memory";
    complain(sequence, what);
  }
  walk.ids.set(entry.id, sequence);
  if ((entry.supersedes ?? []).some((each) => each >= sequence))
    complain(sequence, "supersedes a later entry");
  if (entry.op !== "store") return;
  verified.memories++;
  walk.stored.add(sequence);
  checkExternalId({ sequence, entry }, { walk, complain });
  if (dimensions !== undefined && vectorsOf(entry).some(({ length }) => length !== dimensions))
    complain(sequence, "its vector is of another model");
  if (!entry.vectors.every(Number.isFinite)) complain(sequence, "its vector is not finite");
}

/** Checks that no two living memories have the same external id. */
function checkExternalId(
  { sequence, entry }: Sequenced<Stored>,
  { walk, complain }: Pick<StepOptions, "walk" | "complain">,
): void {
  const { externalId, replaces } = entry;
  if (externalId === undefined) return;
  const earlier = walk.externalIds.get(externalId);
  const isGone = earlier === undefined || earlier === replaces || walk.targets.has(earlier);
  if (!isGone) complain(sequence, "repeats the external id of an earlier memory");
  walk.externalIds.set(externalId, sequence);
}
