import { type SnapshotManifest, sha256Of } from "./manifest.js";

/**
 * A line of a snapshot's journal: a batch of rows that were wiped after the snapshot was written. The
 * line is on the disk before the rows are overwritten, so after a crash at any moment the journal tells
 * which rows must be zero and what the hashes of their groups are then.
 */
export interface Batch {
  /** Wiped slots, with the keys that they had. */
  readonly rows: readonly (readonly [slot: number, key: number])[];
  /** Groups that hold them, with their SHA-256 once the rows are zero. */
  readonly groups: readonly (readonly [group: number, sha256: string])[];
}

/** State of a snapshot's rows after all batches. */
export interface Wiped {
  readonly groups: string[];
  /** Key that each wiped slot had. */
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

/** Parses a line; returns undefined for a line that a crash cut short. */
export function batchIn(line: string): Batch | undefined {
  const [sha256, json = ""] = line.split(" ", 2);
  return sha256 === sha256Of(json) ? (JSON.parse(json) as Batch) : undefined;
}
