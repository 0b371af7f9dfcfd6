import { randomBytes } from "node:crypto";
import type { Database, RootDatabase } from "lmdb";
import { FIRST_MODEL_VERSION, inModelVersion } from "../../../memory/ports/model-version.js";
import type { Listed, Named, Names, Scope } from "../../../memory/ports/names.js";
import { durably, reading } from "../durably.js";

type NameKey = [accountId: string, namespace: string];

export class LocalNames implements Names {
  /** Logs by their names, in the order of the names' bytes. */
  readonly #names: Database<string, NameKey>;
  readonly #scopes: Database<NameKey, string>;

  constructor(root: RootDatabase) {
    this.#names = root.openDB("namespaces", { encoding: "string" });
    this.#scopes = root.openDB("scopes", { encoding: "json" });
  }

  async find(scope: Scope): Promise<string | undefined> {
    return reading(() => this.#names.get(keyOf(scope)));
  }

  async create(scope: Scope, modelVersion = FIRST_MODEL_VERSION): Promise<string> {
    const found = await this.find(scope);
    if (found !== undefined) return found;
    return durably(this.#names, () => {
      const others = this.#names.get(keyOf(scope));
      if (others !== undefined) return others;
      const logId = inModelVersion(randomBytes(10).toString("hex"), modelVersion);
      this.#name(scope, logId);
      return logId;
    });
  }

  async rename(scope: Scope, { from, to }: { from: string; to: string }): Promise<void> {
    await durably(this.#names, () => {
      if (this.#names.get(keyOf(scope)) !== from) return;
      this.#scopes.removeSync(from);
      this.#name(scope, to);
    });
  }

  async retire(scope: Scope, logId: string): Promise<void> {
    await durably(this.#names, () => {
      if (this.#names.get(keyOf(scope)) !== logId) return;
      this.#names.removeSync(keyOf(scope));
      this.#scopes.removeSync(logId);
    });
  }

  async scopeOf(logId: string): Promise<Scope | undefined> {
    const key = reading(() => this.#scopes.get(logId));
    return key && scopeOf(key);
  }

  async list({ accountId, prefix = "", after, limit }: Listed): Promise<Named[]> {
    const begins = !after || Buffer.compare(Buffer.from(after.namespace), Buffer.from(prefix)) < 0;
    const start: NameKey = begins ? [accountId ?? "", prefix] : keyOf(after);
    return reading(() => {
      const named: Named[] = [];
      for (const { key, value } of this.#names.getRange({ start, exclusiveStart: !begins, limit })) {
        if (accountId !== undefined && (key[0] !== accountId || !key[1].startsWith(prefix))) break;
        named.push({ scope: scopeOf(key), logId: value });
      }
      return named;
    });
  }

  #name(scope: Scope, logId: string): void {
    this.#names.putSync(keyOf(scope), logId);
    this.#scopes.putSync(logId, keyOf(scope));
  }
}

function keyOf({ accountId, namespace }: Scope): NameKey {
  return [accountId, namespace];
}

function scopeOf([accountId, namespace]: NameKey): Scope {
  return { accountId, namespace };
}
