import { randomBytes } from "node:crypto";
import type { Database, RootDatabase } from "lmdb";
import type { Head, Scope } from "../../memory/log.js";

type Key = [accountId: string, namespace: string];

/** Which incarnation has which name, in the order of the names' bytes. Whatever writes, runs in a transaction. */
export class Names {
  readonly db: Database<string, Key>;

  constructor(root: RootDatabase) {
    this.db = root.openDB("namespaces", { encoding: "string" });
  }

  find(scope: Scope): string | undefined {
    return this.db.get(keyOf(scope));
  }

  findOrCreate(scope: Scope): string {
    const found = this.find(scope);
    if (found !== undefined) return found;
    const incarnation = randomBytes(10).toString("hex");
    this.db.putSync(keyOf(scope), incarnation);
    return incarnation;
  }

  remove(scope: Scope, incarnation: string): void {
    if (this.find(scope) === incarnation) this.db.removeSync(keyOf(scope));
  }

  list({ accountId, after = "", limit }: { accountId: string; after?: string; limit: number }): Head[] {
    const heads: Head[] = [];
    const start: Key = [accountId, after];
    for (const { key, value } of this.db.getRange({ start, exclusiveStart: true, limit })) {
      if (key[0] !== accountId) break;
      heads.push({ namespace: key[1], incarnation: value });
    }
    return heads;
  }
}

function keyOf({ accountId, namespace }: Scope): Key {
  return [accountId, namespace];
}
