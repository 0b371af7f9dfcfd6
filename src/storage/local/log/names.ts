import { randomBytes } from "node:crypto";
import type { Database, RootDatabase } from "lmdb";
import { type Generation, inGeneration } from "../../../memory/ports/generation.js";
import type { Head, Listed, Named, Scope } from "../../../memory/ports/log.js";

type Key = [accountId: string, namespace: string];

/** Names of logs, in the order of the names' bytes. Every write must run in a transaction. */
export class Names {
  readonly db: Database<string, Key>;
  /** Names by their logs. */
  readonly #scopes: Database<Key, string>;

  constructor(root: RootDatabase) {
    this.db = root.openDB("namespaces", { encoding: "string" });
    this.#scopes = root.openDB("scopes", { encoding: "json" });
  }

  find(scope: Scope): string | undefined {
    return this.db.get(keyOf(scope));
  }

  findOrCreate(scope: Scope, generation: Generation): string {
    const found = this.find(scope);
    if (found !== undefined) return found;
    const logId = inGeneration(randomBytes(10).toString("hex"), generation);
    this.#put(scope, logId);
    return logId;
  }

  remove(scope: Scope, logId: string): void {
    if (this.find(scope) !== logId) return;
    this.db.removeSync(keyOf(scope));
    this.#scopes.removeSync(logId);
  }

  rename(scope: Scope, { from, to }: { from: string; to: string }): void {
    if (this.find(scope) !== from) return;
    this.#scopes.removeSync(from);
    this.#put(scope, to);
  }

  scopeOf(logId: string): Scope | undefined {
    const key = this.#scopes.get(logId);
    return key && scopeOf(key);
  }

  #put(scope: Scope, logId: string): void {
    this.db.putSync(keyOf(scope), logId);
    this.#scopes.putSync(logId, keyOf(scope));
  }

  all({ after, limit }: { after?: Scope | undefined; limit: number }): Named[] {
    const range = after && { start: keyOf(after), exclusiveStart: true };
    return [...this.db.getRange({ ...range, limit })].map(({ key, value }) => ({
      scope: scopeOf(key),
      logId: value,
    }));
  }

  list({ accountId, after = "", prefix = "", limit }: Listed): Head[] {
    const heads: Head[] = [];
    const begins = isBefore(after, prefix);
    const start: Key = [accountId, begins ? prefix : after];
    for (const { key, value } of this.db.getRange({ start, exclusiveStart: !begins, limit })) {
      if (key[0] !== accountId || !key[1].startsWith(prefix)) break;
      heads.push({ namespace: key[1], logId: value });
    }
    return heads;
  }
}

function scopeOf([accountId, namespace]: Key): Scope {
  return { accountId, namespace };
}

/** Compares names by their bytes. */
function isBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
}

function keyOf({ accountId, namespace }: Scope): Key {
  return [accountId, namespace];
}
