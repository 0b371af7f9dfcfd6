import { createHash } from "node:crypto";
import { tokensOf } from "./budget.js";
import { type Json, TOKENS, type ToolCall } from "./tool.js";

/** A node of a knowledge graph. */
export interface Entity {
  readonly name: string;
  readonly entityType: string;
  readonly observations: readonly string[];
}

/** An edge between two nodes, which need not exist. */
export interface Relation {
  readonly from: string;
  readonly to: string;
  readonly relationType: string;
}

export interface Graph {
  readonly entities: readonly Entity[];
  readonly relations: readonly Relation[];
  /** Says that the answer has no room for all of it. */
  readonly note?: string;
}

/** Maximum number of memories in a page. */
const PAGE_SIZE = 100;
const TOO_LARGE =
  "the graph is larger than an answer may be, and this is its older part; use search_nodes or open_nodes";

/** Path in the metadata by which a memory is known for a part of a graph. */
export const KIND = "graph.kind";

/** Makes the memories of an entity: one for each observation, which its name makes whole, and its own last. */
export function memoriesOf({ name, entityType, observations }: Entity): Json[] {
  const own = { kind: "entity", entity: name, type: entityType };
  return [
    ...observations.map((content) => observationOf(name, content)),
    part({ text: `${name} (${entityType})`, graph: own, id: entityId(name) }),
  ];
}

export function observationOf(name: string, content: string): Json {
  const graph = { kind: "observation", entity: name };
  return part({ text: `${name}: ${content}`, graph, id: observationId(name, content) });
}

export function relationOf({ from, to, relationType }: Relation): Json {
  const text = `${from} ${relationType.replaceAll("_", " ")} ${to}`;
  const graph = { kind: "relation", from, to, type: relationType };
  return part({ text, graph, id: relationId({ from, to, relationType }) });
}

/** Makes a memory that is stored once. */
function part({ text, graph, id }: { text: string; graph: Json; id: string }): Json {
  return { text, metadata: { graph }, external_id: id, on_conflict: "KEEP" };
}

export const entityId = (name: string) => idOf("entity", [name]);
export const observationId = (name: string, content: string) => idOf("observation", [name, content]);
export const relationId = ({ from, to, relationType }: Relation) =>
  idOf("relation", [from, to, relationType]);

function idOf(kind: string, parts: readonly string[]): string {
  return `graph ${kind} ${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}

/** Makes the filter of all that is about some entities: themselves, what was observed, and their relations. */
export function about(names: readonly string[]): Json {
  const one = { $in: [...names] };
  return { $or: [{ "graph.entity": one }, { "graph.from": one }, { "graph.to": one }] };
}

/** Reads the part of the graph that a filter matches, oldest first, as far as an answer has room for it. */
export async function readGraph(call: ToolCall, filter: Json): Promise<Graph> {
  const graph = new Growing();
  let page_token = "";
  do {
    const { namespace } = call;
    const order = { order: "OLDEST_FIRST", page_size: PAGE_SIZE, ...(page_token !== "" && { page_token }) };
    const page = await call.ask("ListMemories", { namespace, filter, ...order });
    for (const memory of page.memories as readonly Json[]) graph.add(memory);
    page_token = String(page.next_page_token ?? "");
  } while (page_token !== "" && !graph.isFull);
  return graph.whole;
}

/** A graph that is put together from memories. */
class Growing {
  readonly #types = new Map<string, string>();
  readonly #observations = new Map<string, string[]>();
  readonly #relations: Relation[] = [];
  #tokens = 0;

  get isFull(): boolean {
    return this.#tokens > TOKENS.max;
  }

  add({ text, metadata }: Json): void {
    if (this.isFull) return;
    const { kind, entity, from, to, type } = (metadata as { graph: Record<string, string> }).graph;
    this.#tokens += tokensOf(JSON.stringify([text, type ?? "", from ?? "", to ?? ""]));
    if (kind === "relation") this.#relations.push({ from, to, relationType: type } as Relation);
    else if (kind === "entity") this.#types.set(String(entity), String(type));
    else this.#observe(String(entity), String(text).slice(`${entity}: `.length));
  }

  get whole(): Graph {
    const entities = [...this.#types].map(([name, entityType]) => ({
      ...{ name, entityType, observations: this.#observations.get(name) ?? [] },
    }));
    return { entities, relations: this.#relations, ...(this.isFull && { note: TOO_LARGE }) };
  }

  #observe(entity: string, content: string): void {
    const contents = this.#observations.get(entity) ?? [];
    contents.push(content);
    this.#observations.set(entity, contents);
  }
}
