import { randomBytes } from "node:crypto";
import type { Database, RootDatabase } from "lmdb";
import { type Generation, inGeneration } from "../../../memory/ports/generation.js";
import type { Head, Listed, Named, Scope } from "../../../memory/ports/log.js";

type Key = [accountId: string, namespace: string];

/** Names of logs, in the order of the names' bytes. Every write must run in a transaction. */
export class Names {
  readonly db: Database<string, Key>;

  constructor(root: RootDatabase) {
    this.db = root.openDB("namespaces", { encoding: "string" });
  }

  find(scope: Scope): string | undefined {
    return this.db.get(keyOf(scope));
  }

  findOrCreate(scope: Scope, generation: Generation): string {
    const found = this.find(scope);
    if (found !== undefined) return found;
    const logId = inGeneration(randomBytes(10).toString("hex"), generation);
    this.db.putSync(keyOf(scope), logId);
    return logId;
  }

  remove(scope: Scope, logId: string): void {
    if (this.find(scope) === logId) this.db.removeSync(keyOf(scope));
  }

  rename(scope: Scope, { from, to }: { from: string; to: string }): void {
    if (this.find(scope) === from) this.db.putSync(keyOf(scope), to);
  }

  all({ after, limit }: { after?: Scope | undefined; limit: number }): Named[] {
    const range = after && { start: keyOf(after), exclusiveStart: true };
    return [...this.db.getRange({ ...range, limit })].map(({ key, value }) => ({
      scope: { accountId: key[0], namespace: key[1] },
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

/** Compares names by their bytes. */
function isBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
}

function keyOf({ accountId, namespace }: Scope): Key {
  return [accountId, namespace];
}
