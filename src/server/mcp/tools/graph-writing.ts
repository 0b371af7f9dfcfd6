import {
  about,
  type Entity,
  entityId,
  memoriesOf,
  observationId,
  observationOf,
  type Relation,
  readGraph,
  relationId,
  relationOf,
} from "./graph.js";
import { type Json, Refusal, type ToolCall } from "./tool.js";

/** Maximum number of memories that are stored in one call. */
const BATCH = 256;
/** Names and ids in one filter. */
const FILTERED = 64;

export interface Observed {
  readonly entityName: string;
  readonly contents: readonly string[];
}

/** Stores the entities whose names are new, and answers those. */
export async function createEntities(call: ToolCall, entities: readonly Entity[]): Promise<Entity[]> {
  const standing = await typesOf(call, namesIn(entities));
  const fresh = entities.filter(({ name }) => !standing.has(name));
  const made = await storeNew(call, fresh.flatMap(memoriesOf));
  return fresh.filter(({ name }) => made.delete(entityId(name)));
}

/** Stores relations, and answers those that were new. */
export async function createRelations(call: ToolCall, relations: readonly Relation[]): Promise<Relation[]> {
  const made = await storeNew(call, relations.map(relationOf));
  return relations.filter((each) => made.delete(relationId(each)));
}

/** Adds observations to entities, of which all must exist, and answers those that were new. */
export async function addObservations(call: ToolCall, observed: readonly Observed[]) {
  const names = observed.map(({ entityName }) => entityName);
  const standing = await typesOf(call, names);
  const missing = names.find((name) => !standing.has(name));
  if (missing !== undefined) throw new Refusal("not_found", `there is no entity with the name ${missing}`);
  const items = observed.flatMap(({ entityName, contents }) =>
    contents.map((content) => observationOf(entityName, content)),
  );
  const made = await storeNew(call, items);
  return observed.map(({ entityName, contents }) => {
    const added = contents.filter((content) => made.delete(observationId(entityName, content)));
    return { entityName, addedObservations: added };
  });
}

/** Erases entities with all that is about them. */
export async function deleteEntities(call: ToolCall, names: readonly string[]): Promise<void> {
  for (const some of slices(names, FILTERED)) await erase(call, about(some));
}

/** Erases memories by their external ids; those that are not there are none. */
export async function deleteParts(call: ToolCall, ids: readonly string[]): Promise<void> {
  for (const some of slices(ids, FILTERED)) await erase(call, { $external_id: { $in: some } });
}

async function erase({ ask, namespace }: ToolCall, filter: Json): Promise<void> {
  let more: unknown = true;
  while (more === true) ({ more } = await ask("DeleteMemories", { namespace, filter }));
}

/** Answers the types of the entities that exist. */
async function typesOf(call: ToolCall, names: readonly string[]): Promise<Map<string, string>> {
  const types = new Map<string, string>();
  for (const some of slices(names, FILTERED)) {
    const { entities } = await readGraph(call, { $external_id: { $in: some.map(entityId) } });
    for (const { name, entityType } of entities) types.set(name, entityType);
  }
  return types;
}

/** Stores memories, and answers the external ids of those that were not there. */
async function storeNew({ ask, namespace }: ToolCall, items: readonly Json[]): Promise<Set<string>> {
  const made = new Set<string>();
  for (const memories of slices(items, BATCH)) {
    const { results } = await ask("StoreBatch", { namespace, memories });
    for (const [i, { stored, error }] of (results as { stored?: Json; error?: Json }[]).entries()) {
      if (error !== undefined) throw refusalOf(error);
      if (stored?.outcome === "CREATED") made.add(String(memories[i]?.external_id));
    }
  }
  return made;
}

function refusalOf({ code, message, reason }: Json): Refusal {
  return new Refusal(String(code), String(message), { ...(reason !== "" && { reason: String(reason) }) });
}

function namesIn(entities: readonly Entity[]): string[] {
  return entities.map(({ name }) => name);
}

function slices<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
