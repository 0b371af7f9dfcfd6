import { afterAll, beforeAll } from "vitest";
import type { Storage } from "../../src/storage/storage.js";

/** A test's own database, which it can open and close again and again. */
export interface TestDatabase {
  open(): Promise<Storage>;
  /** Harms an entry behind the adapter's back, while the database is closed. */
  damage(request: { logId: string; sequence: number; how: Harm }): Promise<void>;
  /** Replaces the record of its format, while the database is closed; undefined removes it. */
  setFormat(record: object | undefined): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Kind of harm: a missing entry, a broken one, a field with another value of the same form, or no checksums.
 * `label` is the caller's own id.
 */
export type Harm = "remove" | "spoil" | "text" | "vectors" | "tokens" | "unsum" | "label" | "supersedes";

export type MakeDatabase = () => Promise<TestDatabase>;

/** Opens a database before a suite's tests and removes it after them. */
export function useDatabase(make: MakeDatabase): { storage: Storage; reopen(): Promise<void> } & {
  database: TestDatabase;
} {
  const used = {} as { storage: Storage; reopen(): Promise<void>; database: TestDatabase };
  used.reopen = async () => {
    await used.storage.close();
    used.storage = await used.database.open();
  };
  beforeAll(async () => {
    used.database = await make();
    used.storage = await used.database.open();
  });
  afterAll(async () => {
    await used.storage?.close();
    await used.database?.remove();
  });
  return used;
}
