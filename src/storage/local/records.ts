import type { Database } from "lmdb";
import type { Pinned, SystemRecords } from "../../memory/ports/model-version.js";
import type { Recent, Scope } from "../../memory/ports/names.js";
import type { Records, Where } from "../records.js";
import { durably, reading } from "./durably.js";

/** Number of records that each new one looks at for expired ones: more than one, so that none pile up. */
const LOOKED_AT = 4;

export class LocalRecords<R extends { readonly id: string }> implements Records<R> {
  /** The record that was looked at last for expired ones; empty at the end of all. */
  #looked: string | undefined;

  /** @param expiry field with the time at which a record expires; undefined if none does */
  constructor(
    private readonly records: Database<Omit<R, "id">, string>,
    private readonly expiry?: keyof R,
  ) {}

  async find(id: string): Promise<R | undefined> {
    return reading(() => this.#get(id));
  }

  findOrInsert(record: R, nowMs = 0): Promise<R> {
    return durably(this.records, () => {
      this.#removeExpired(record.id, nowMs);
      const existing = this.#get(record.id);
      if (existing !== undefined && !this.#isExpired(existing, nowMs)) return existing;
      this.records.putSync(record.id, record);
      return record;
    });
  }

  update({ id, ...where }: Where<R> & Pick<R, "id">, set: Partial<R>): Promise<boolean> {
    return durably(this.records, () => {
      const existing = this.#get(id);
      if (existing === undefined || !has(existing, where)) return false;
      this.records.putSync(id, { ...existing, ...set });
      return true;
    });
  }

  remove({ id: only, ...where }: Where<R>): Promise<void> {
    return durably(this.records, () => {
      for (const id of only === undefined ? [...this.records.getKeys()] : [only]) {
        // A damaged one can be removed by its id alone.
        const isMeant = Object.keys(where).length === 0 || has(this.#read(id) ?? {}, where);
        if (isMeant) this.records.removeSync(id);
      }
    });
  }

  async list({ limit, after }: Parameters<Records<R>["list"]>[0]) {
    const range = { limit, ...(after !== undefined && { start: after, exclusiveStart: true }) };
    return reading(() => [...this.records.getKeys(range)].flatMap((id) => this.#read(id) ?? []));
  }

  #get(id: string): R | undefined {
    const found = this.records.get(id);
    return found && ({ ...found, id } as R);
  }

  /** Reads one record by itself, so that a damaged one does not hide the others. */
  #read(id: string): R | { id: string; lost: true } | undefined {
    try {
      return this.#get(id);
    } catch (error) {
      // It is not JSON.
      if (error instanceof SyntaxError) return { id, lost: true };
      throw error;
    }
  }

  #isExpired(record: R, nowMs: number): boolean {
    return this.expiry !== undefined && (record[this.expiry] as number) <= nowMs;
  }

  /** Removes those of a few records that have expired, in turn: from any on, so that restarts leave none out. */
  #removeExpired(any: string, nowMs: number): void {
    if (this.expiry === undefined) return;
    const start = this.#looked ?? any;
    const range = { limit: LOOKED_AT, ...(start !== "" && { start, exclusiveStart: true }) };
    const ids = [...this.records.getKeys(range)];
    this.#looked = ids[LOOKED_AT - 1] ?? "";
    for (const id of ids) {
      const record = this.#read(id);
      if (record && !("lost" in record) && this.#isExpired(record, nowMs)) this.records.removeSync(id);
    }
  }
}

function has(record: object, where: object): boolean {
  return Object.entries(where).every(([name, value]) => record[name as keyof object] === value);
}

export class LocalRecent implements Recent {
  constructor(private readonly usedMs: Database<number, [accountId: string, namespace: string]>) {}

  touch({ accountId, namespace }: Scope, atMs: number): Promise<void> {
    return durably(this.usedMs, () => void this.usedMs.putSync([accountId, namespace], atMs));
  }

  async list(limit: number): Promise<Scope[]> {
    const all = reading(() => [...this.usedMs.getRange()]);
    return all
      .sort((a, b) => b.value - a.value)
      .slice(0, limit)
      .map(({ key: [accountId, namespace] }) => ({ accountId, namespace }));
  }

  forget({ accountId, namespace }: Scope): Promise<void> {
    return durably(this.usedMs, () => void this.usedMs.removeSync([accountId, namespace]));
  }
}

/** Records about the whole database, by name. */
export type Meta = Database<unknown, string>;

export class LocalSystemRecords implements SystemRecords {
  constructor(private readonly meta: Meta) {}

  async models(): Promise<readonly Pinned[]> {
    return reading(() => this.#models());
  }

  pin({ after, to }: Parameters<SystemRecords["pin"]>[0]): Promise<boolean> {
    return durably(this.meta, () => {
      const models = this.#models();
      if (models.at(-1)?.modelVersion !== after) return false;
      this.meta.putSync("models", [...models, to]);
      return true;
    });
  }

  #models(): readonly Pinned[] {
    return (this.meta.get("models") as readonly Pinned[] | undefined) ?? [];
  }
}
