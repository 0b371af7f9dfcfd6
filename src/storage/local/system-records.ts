import type { Database } from "lmdb";
import type { Pinned, SystemRecords } from "../../memory/ports/system-records.js";
import { type PinnedRecord, pinnedOf, pinnedRecordOf } from "../pinned.js";
import { durably, reading } from "./durably.js";

/** Records about the whole database, by name. */
export type Meta = Database<unknown, string>;

export class LocalSystemRecords implements SystemRecords {
  constructor(private readonly meta: Meta) {}

  async models(): Promise<readonly Pinned[]> {
    return reading(() => this.#records().map(pinnedOf));
  }

  pin({ after, to }: Parameters<SystemRecords["pin"]>[0]): Promise<boolean> {
    return durably(this.meta, () => {
      const records = this.#records();
      if (records.at(-1)?.generation !== after) return false;
      this.meta.putSync("models", [...records, pinnedRecordOf(to)]);
      return true;
    });
  }

  #records(): readonly PinnedRecord[] {
    return (this.meta.get("models") as readonly PinnedRecord[] | undefined) ?? [];
  }
}
