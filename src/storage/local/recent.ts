import type { Database, RootDatabase } from "lmdb";
import type { Scope } from "../../memory/ports/names.js";
import type { Recent } from "../../memory/ports/recent.js";
import { durably, reading } from "./durably.js";

export class LocalRecent implements Recent {
  readonly #usedMs: Database<number, [accountId: string, namespace: string]>;

  constructor(root: RootDatabase) {
    this.#usedMs = root.openDB("recent", { encoding: "json" });
  }

  touch({ accountId, namespace }: Scope, atMs: number): Promise<void> {
    return durably(this.#usedMs, () => void this.#usedMs.putSync([accountId, namespace], atMs));
  }

  async list(limit: number): Promise<Scope[]> {
    const all = reading(() => [...this.#usedMs.getRange()]);
    return all
      .sort((a, b) => b.value - a.value)
      .slice(0, limit)
      .map(({ key: [accountId, namespace] }) => ({ accountId, namespace }));
  }

  forget({ accountId, namespace }: Scope): Promise<void> {
    return durably(this.#usedMs, () => void this.#usedMs.removeSync([accountId, namespace]));
  }
}
