import { about, type Entity, KIND, observationId, type Relation, readGraph, relationId } from "./graph.js";
import {
  addObservations,
  createEntities,
  createRelations,
  deleteEntities,
  deleteParts,
  type Observed,
} from "./graph-writing.js";
import { ORDER } from "./recall.js";
import { type Json, Refusal, type Tool, type ToolCall, text, texts } from "./tool.js";

/** Memories that a search finds, whose entities are then read whole. */
const FOUND = 20;

const listOf = (properties: Record<string, typeof text | typeof texts>) => ({
  type: "array",
  items: { type: "object", properties, required: Object.keys(properties) },
});
const entities = listOf({ name: text, entityType: text, observations: texts });
const relations = listOf({ from: text, to: text, relationType: text });
const graphSchema = {
  type: "object" as const,
  properties: { entities, relations, note: text },
  required: ["entities", "relations"],
};

/**
 * Tools of a knowledge graph with the names and shapes of `@modelcontextprotocol/server-memory`, so that what
 * was set up for it goes on over this store. Each observation and each relation is a memory.
 */
export const GRAPH_TOOLS: readonly Tool[] = [
  tool("create_entities", {
    description: "Adds entities to the knowledge graph. Those whose names exist stay as they are.",
    takes: { entities },
    answers: { entities },
    writes: true,
    run: async (call, given) => ({ entities: await createEntities(call, given.entities as Entity[]) }),
  }),
  tool("create_relations", {
    description: "Adds relations between entities, in the active voice. Those that exist stay as they are.",
    takes: { relations },
    answers: { relations },
    writes: true,
    run: async (call, given) => ({ relations: await createRelations(call, given.relations as Relation[]) }),
  }),
  tool("add_observations", {
    description: "Adds observations to entities that exist.",
    takes: { observations: listOf({ entityName: text, contents: texts }) },
    answers: { results: listOf({ entityName: text, addedObservations: texts }) },
    writes: true,
    run: async (call, given) => ({ results: await addObservations(call, given.observations as Observed[]) }),
  }),
  tool("delete_entities", {
    description: "Erases entities, their observations and their relations.",
    takes: { entityNames: texts },
    ...deleting("Entities", (call, given) => deleteEntities(call, given.entityNames as string[])),
  }),
  tool("delete_observations", {
    description: "Erases single observations of entities.",
    takes: { deletions: listOf({ entityName: text, observations: texts }) },
    ...deleting("Observations", (call, given) => {
      const deletions = given.deletions as { entityName: string; observations: string[] }[];
      const idsOf = ({ entityName, observations }: (typeof deletions)[number]) =>
        observations.map((content) => observationId(entityName, content));
      return deleteParts(call, deletions.flatMap(idsOf));
    }),
  }),
  tool("delete_relations", {
    description: "Erases relations.",
    takes: { relations },
    ...deleting("Relations", (call, given) =>
      deleteParts(call, (given.relations as Relation[]).map(relationId)),
    ),
  }),
  tool("read_graph", {
    description: "Reads the knowledge graph, as far as an answer has room for it.",
    takes: {},
    reads: (call) => readGraph(call, { [KIND]: { $exists: true } }),
  }),
  tool("search_nodes", {
    description:
      "Finds the entities nearest to a query by what is known of them, by meaning and by words, with their relations. Not all of them need fit it.",
    takes: { query: text },
    reads: search,
  }),
  tool("open_nodes", {
    description: "Reads entities by their names, with their relations.",
    takes: { names: texts },
    reads: (call, given) => open(call, given.names as string[]),
  }),
];

type Run = (call: ToolCall, given: Json) => Promise<object>;

interface Described {
  readonly description: string;
  readonly takes: Record<string, typeof text | typeof texts | ReturnType<typeof listOf>>;
  readonly answers?: Described["takes"];
  readonly writes?: boolean;
  readonly destroys?: boolean;
  readonly run?: Run;
  /** Reads a part of the graph. */
  readonly reads?: Run;
}

function tool(name: string, { description, takes, answers, reads, run = reads, ...more }: Described): Tool {
  const title = name.replace("_", " ").replace(/^./, (first) => first.toUpperCase());
  const { writes = false, destroys = false } = more;
  return {
    ...{ name, title, description, writes, destroys, repeats: !writes || destroys },
    inputSchema: { type: "object", properties: takes, required: Object.keys(takes) },
    outputSchema: answers
      ? { type: "object", properties: answers, required: Object.keys(answers) }
      : graphSchema,
    async run(call) {
      for (const [field, schema] of Object.entries(takes)) check(call.given[field], schema, field);
      return { ...(await run?.(call, call.given)) };
    },
  };
}

/** Makes the part of a tool that erases what the program has called by this word. */
function deleting(what: string, erase: (call: ToolCall, given: Json) => Promise<void>) {
  const message = `${what} deleted successfully`;
  return {
    answers: { success: { type: "boolean" }, message: text },
    ...{ writes: true, destroys: true },
    run: async (call: ToolCall, given: Json) => {
      await erase(call, given);
      return { success: true, message };
    },
  };
}

async function search(call: ToolCall, { query }: Json) {
  const filter = { [KIND]: { $exists: true } };
  const { namespace } = call;
  const { results } = await call.ask("Recall", { ...ORDER, query, namespace, filter, top_k: FOUND });
  const names = (results as readonly Json[]).flatMap(({ metadata }) => {
    const { entity, from, to } = (metadata as { graph: Record<string, string> }).graph;
    return [entity, from, to].filter((name) => name !== undefined);
  });
  return names.length === 0 ? { entities: [], relations: [] } : open(call, [...new Set(names)]);
}

/** Reads entities whole, and the relations that they have with others. */
async function open(call: ToolCall, names: readonly string[]) {
  if (names.length === 0) return { entities: [], relations: [] };
  return readGraph(call, about(names));
}

interface Schema {
  readonly type: string;
  readonly items?: Schema;
  readonly properties?: Record<string, Schema>;
}

/** Checks an argument, whose parts become memories and filters. @throws Refusal that names the part */
function check(value: unknown, { type, items, properties }: Schema, path: string): void {
  const isSo =
    type === "array" ? Array.isArray(value) : type === "object" ? isObject(value) : typeof value === type;
  if (!isSo)
    throw new Refusal("invalid_argument", `${path} must be ${type === "string" ? "a text" : `an ${type}`}`);
  if (items) for (const [i, item] of (value as unknown[]).entries()) check(item, items, `${path}[${i}]`);
  for (const [name, schema] of Object.entries(properties ?? {})) {
    check((value as Json)[name], schema, `${path}.${name}`);
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
