import type { Database, RootDatabase } from "lmdb";
import type { Lost, Records, Where } from "../../memory/ports/records.js";
import { durably, reading } from "./durably.js";

/** Records that are checked for expiry with each new one: more than one, so that expired ones do not pile up. */
const CHECKED_FOR_EXPIRY = 4;

interface LocalRecordsOptions<R> {
  /** Field with the time at which a record expires; undefined if none does. */
  readonly expiry?: keyof R;
  /** Field by which records are found as well; no two share a value of it. */
  readonly index?: keyof R & string;
}

export class LocalRecords<R extends { readonly id: string }> implements Records<R> {
  /** Id of the record that was last checked for expiry; empty after the last of all. */
  #lastChecked: string | undefined;

  readonly #records: Database<Omit<R, "id">, string>;
  /** Ids by the values of the field that has an index. */
  readonly #ids: Database<string, string> | undefined;

  constructor(
    root: RootDatabase,
    name: string,
    private readonly options: LocalRecordsOptions<R> = {},
  ) {
    const { index } = options;
    this.#records = root.openDB(name, { encoding: "json" });
    this.#ids = index && root.openDB(`${name}-by-${index}`, { encoding: "string" });
  }

  async find(id: string): Promise<R | undefined> {
    return reading(() => this.#get(id));
  }

  async findBy(_field: string, value: string): Promise<R | undefined> {
    return reading(() => {
      const id = this.#ids?.get(value);
      return id === undefined ? undefined : this.#get(id);
    });
  }

  findOrInsert(record: R, nowMs = 0): Promise<R> {
    return durably(this.#records, () => {
      this.#removeExpired(record.id, nowMs);
      const existing = this.#get(record.id);
      if (existing !== undefined && !this.#isExpired(existing, nowMs)) return existing;
      this.#write(record.id, record);
      return record;
    });
  }

  update({ id, ...where }: Where<R> & Pick<R, "id">, set: Partial<R>): Promise<boolean> {
    return durably(this.#records, () => {
      const existing = this.#get(id);
      if (existing === undefined || !has(existing, where)) return false;
      this.#write(id, { ...existing, ...set });
      return true;
    });
  }

  remove({ id: only, ...where }: Where<R>): Promise<void> {
    return durably(this.#records, () => {
      for (const id of only === undefined ? [...this.#records.getKeys()] : [only]) {
        // A damaged one can be removed by its id alone.
        const isMeant = Object.keys(where).length === 0 || has(this.#read(id) ?? {}, where);
        if (isMeant) this.#write(id, undefined);
      }
    });
  }

  async list({ limit, after = "", prefix = "" }: Parameters<Records<R>["list"]>[0]): Promise<(R | Lost)[]> {
    const begins = Buffer.compare(Buffer.from(after), Buffer.from(prefix)) < 0;
    const start = begins ? prefix : after;
    const range = { limit, ...(start !== "" && { start, exclusiveStart: !begins }) };
    return reading(() => {
      const found: (R | Lost)[] = [];
      for (const id of this.#records.getKeys(range)) {
        if (!id.startsWith(prefix)) break;
        found.push(this.#read(id) as R | Lost);
      }
      return found;
    });
  }

  async greatest(field: keyof R, limit: number): Promise<R[]> {
    const all = await this.list({ limit: Number.POSITIVE_INFINITY });
    // A damaged one does not hide the others.
    const whole = all.filter((record): record is R => !("lost" in record));
    const numberIn = (record: R) => Number(record[field] ?? 0);
    return whole.sort((a, b) => numberIn(b) - numberIn(a)).slice(0, limit);
  }

  /** Writes a record, or removes it, and changes its index likewise. */
  #write(id: string, record: R | undefined): void {
    const { index } = this.options;
    if (index !== undefined) {
      const before = this.#get(id);
      if (before !== undefined) this.#ids?.removeSync(before[index] as string);
      if (record !== undefined) this.#ids?.putSync(record[index] as string, id);
    }
    if (record === undefined) return void this.#records.removeSync(id);
    const { id: _id, ...fields } = record;
    this.#records.putSync(id, fields);
  }

  #get(id: string): R | undefined {
    const found = this.#records.get(id);
    return found && ({ id, ...found } as R);
  }

  /** Reads one record by itself, so that a damaged one does not hide the others. */
  #read(id: string): R | Lost | undefined {
    try {
      return this.#get(id);
    } catch (error) {
      // It is not JSON.
      if (error instanceof SyntaxError) return { id, lost: true };
      throw error;
    }
  }

  #isExpired(record: R, nowMs: number): boolean {
    const { expiry } = this.options;
    return expiry !== undefined && (record[expiry] as number) <= nowMs;
  }

  /** Removes those of the next few records that have expired. It starts at a new record, so that restarts leave none out. */
  #removeExpired(first: string, nowMs: number): void {
    if (this.options.expiry === undefined) return;
    const start = this.#lastChecked ?? first;
    const range = { limit: CHECKED_FOR_EXPIRY, ...(start !== "" && { start, exclusiveStart: true }) };
    const ids = [...this.#records.getKeys(range)];
    this.#lastChecked = ids[CHECKED_FOR_EXPIRY - 1] ?? "";
    for (const id of ids) {
      const record = this.#read(id);
      if (record && !("lost" in record) && this.#isExpired(record, nowMs)) this.#records.removeSync(id);
    }
  }
}

function has(record: object, where: object): boolean {
  return Object.entries(where).every(([name, value]) => record[name as keyof object] === value);
}
