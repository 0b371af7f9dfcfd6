import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { loadPairSet, type PairSet } from "./pair-set.js";
import { loadRetrievalSet, type RetrievalSet, type Side } from "./retrieval-set.js";

export const KINDS = ["retrieval", "sts", "pairs"] as const;
export type Kind = (typeof KINDS)[number];

/** A data set in the folder. */
export interface Found {
  readonly kind: Kind;
  readonly name: string;
}

/** A folder of evaluation data, described in eval/README.md. */
export class DataFolder {
  constructor(
    readonly path: string,
    readonly side: Side,
  ) {}

  /**
   * Lists all sets that have this side, by name.
   *
   * @throws Error when there are none.
   */
  list(): Found[] {
    const found = [...this.#retrieval(), ...this.#pairs("sts"), ...this.#pairs("pairs")];
    if (found.length > 0) return found;
    throw new Error(`${this.path} has no evaluation data of the ${this.side} side: see eval/README.md`);
  }

  retrieval(name: string): RetrievalSet {
    return loadRetrievalSet(join(this.path, "retrieval"), { name, side: this.side });
  }

  pairs(kind: "sts" | "pairs", name: string): PairSet {
    return loadPairSet(join(this.path, kind, `${name}.${this.side}`), name);
  }

  #retrieval(): Found[] {
    const hasSide = (name: string) => {
      const base = join(this.path, "retrieval", name, `queries.${this.side}.jsonl`);
      return existsSync(base) || existsSync(`${base}.gz`);
    };
    return this.#names("retrieval")
      .filter(hasSide)
      .map((name) => ({ kind: "retrieval", name }));
  }

  #pairs(kind: "sts" | "pairs"): Found[] {
    const ending = new RegExp(`\\.${this.side}\\.jsonl(\\.gz)?$`);
    return this.#names(kind)
      .filter((name) => ending.test(name))
      .map((name) => ({ kind, name: name.replace(ending, "") }));
  }

  #names(folder: string): string[] {
    const path = join(this.path, folder);
    return existsSync(path) ? readdirSync(path).sort() : [];
  }
}
