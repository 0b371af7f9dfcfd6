import { objectsIn, show } from "../filter/path.js";
import type { JsonObject } from "../input/json-object.js";
import type { Value } from "../ports/condition.js";
import { Column } from "./column.js";

/** A key of metadata objects, with what was found at it and below. */
class Node {
  readonly column = new Column();
  readonly children = new Map<string, Node>();
}

/** A column for each path that metadata has. */
export class Paths {
  /** Bytes that they take, about. */
  bytes = 0;
  readonly #children = new Map<string, Node>();
  readonly #columns: Column[] = [];

  /** Number of paths. */
  get size(): number {
    return this.#columns.length;
  }

  /** Adds what a row has at all its paths. */
  add(row: number, metadata: JsonObject): void {
    this.#add(this.#children, metadata, row);
  }

  /** Removes what a row has at all paths. */
  remove(row: number): void {
    for (const column of this.#columns) this.#measure(column, () => column.remove(row));
  }

  find(keys: readonly string[]): Column | undefined {
    let found: Node | undefined;
    let children: ReadonlyMap<string, Node> | undefined = this.#children;
    for (const key of keys) {
      found = children?.get(key);
      children = found?.children;
    }
    return found?.column;
  }

  #add(children: Map<string, Node>, object: JsonObject, row: number): void {
    for (const [key, value] of Object.entries(object)) {
      const { column, children: below } = this.#nodeOf(children, key);
      this.#measure(column, () => {
        show(value, (each: Value, isElement) => column.add(row, each, isElement));
      });
      for (const inner of objectsIn(value)) this.#add(below, inner, row);
    }
  }

  #nodeOf(children: Map<string, Node>, key: string): Node {
    const known = children.get(key);
    if (known !== undefined) return known;
    const node = new Node();
    children.set(key, node);
    this.#columns.push(node.column);
    this.bytes += node.column.bytes + 2 * key.length;
    return node;
  }

  #measure(column: Column, change: () => void): void {
    const before = column.bytes;
    change();
    this.bytes += column.bytes - before;
  }
}
