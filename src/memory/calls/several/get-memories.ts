import { authorizeFree } from "../../input/authorize.js";
import { parseMemoryIds } from "../../input/ids.js";
import { scopeOf } from "../../input/namespace.js";
import { fetchAll } from "../../log/fetch.js";
import { mapSome } from "../../pacing/map-some.js";
import type { Log, Seen } from "../../ports/log.js";
import type { Caller, Quota } from "../../ports/quota.js";
import { byteLengthOf, PAGE_BYTES_MAX } from "../read-page.js";

/** Ids looked up at a time. */
const LOCATING_MAX = 8;
/** Memories read at a time: few, because the answer may have no room for them. */
const READ_MANY = 16;

export interface MemoriesRequest {
  readonly caller: Caller;
  readonly namespace: string;
  readonly ids: readonly string[];
}

export interface GotMemories {
  /** Memories in the order of the request. */
  readonly memories: readonly Seen["text"][];
  /** Ids that no memory has. */
  readonly missing: readonly string[];
  /** Ids that the answer has no room for. */
  readonly remaining: readonly string[];
}

/** Finds several memories by their ids, up to the bytes that an answer may have. Costs nothing. */
export async function getMemories(
  { quota, log }: { quota: Quota; log: Log },
  { caller, ...request }: MemoriesRequest,
): Promise<GotMemories> {
  const scope = scopeOf({ caller, ...request });
  const ids = parseMemoryIds(request.ids);
  await authorizeFree(quota, caller, { writes: false, namespace: scope.namespace });
  const logId = await log.find(scope);
  if (logId === undefined) return { memories: [], missing: ids, remaining: [] };
  const memories: Seen["text"][] = [];
  const missing: string[] = [];
  let bytes = 0;
  for (let at = 0; at < ids.length; at += READ_MANY) {
    const some = ids.slice(at, at + READ_MANY);
    const found = await findSome(log, { logId, ids: some });
    for (const [i, id] of some.entries()) {
      if (bytes >= PAGE_BYTES_MAX) return { memories, missing, remaining: ids.slice(at + i) };
      const memory = found.get(id);
      if (memory === undefined) missing.push(id);
      else memories.push(memory);
      bytes += memory === undefined ? 0 : byteLengthOf(memory);
    }
  }
  return { memories, missing, remaining: [] };
}

async function findSome(
  log: Log,
  { logId, ids }: { logId: string; ids: readonly string[] },
): Promise<Map<string, Seen["text"]>> {
  const located = await mapSome(ids, LOCATING_MAX, (id) => log.locate({ logId, id }));
  const sequences = located.filter((sequence) => sequence !== undefined);
  const found = new Map<string, Seen["text"]>();
  for await (const some of fetchAll(log, { logId, sequences, what: "text" })) {
    for (const { entry } of some) found.set(entry.id, entry);
  }
  return found;
}
