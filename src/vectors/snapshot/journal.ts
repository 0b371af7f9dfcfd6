import { type SnapshotManifest, sha256Of } from "./manifest.js";

/**
 * The journal of a snapshot: a line for each batch of rows that were wiped after it was written. A line
 * is on the disk before the rows are overwritten, so whatever moment a crash picks, the journal tells which
 * rows are to be zero and what the hashes of their groups are then.
 */
export interface Batch {
  /** The slots that are wiped, and the keys that they had. */
  readonly rows: readonly (readonly [slot: number, key: number])[];
  /** The groups that hold them, and their SHA-256 once the rows are zero. */
  readonly groups: readonly (readonly [group: number, sha256: string])[];
}

/** What a snapshot's rows are like after all batches. */
export interface Wiped {
  readonly groups: string[];
  /** The key that each wiped slot had. */
  readonly keyOfSlot: Map<number, number>;
}

export function unwiped({ groups }: SnapshotManifest): Wiped {
  return { groups: [...groups], keyOfSlot: new Map() };
}

export function note({ groups, keyOfSlot }: Wiped, batch: Batch): void {
  for (const [group, sha256] of batch.groups) groups[group] = sha256;
  for (const [slot, key] of batch.rows) keyOfSlot.set(slot, key);
}

export function lineOf(batch: Batch): string {
  const json = JSON.stringify(batch);
  return `${sha256Of(json)} ${json}\n`;
}

/** The batch that a line holds; undefined for a line that a crash cut short. */
export function batchIn(line: string): Batch | undefined {
  const [sha256, json = ""] = line.split(" ", 2);
  return sha256 === sha256Of(json) ? (JSON.parse(json) as Batch) : undefined;
}
