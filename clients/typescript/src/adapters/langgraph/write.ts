import type { PutOperation } from "@langchain/langgraph-checkpoint";
import type { ErrorCode, StoreItem } from "../../contract.js";
import { RecalldError } from "../../errors.js";
import { mapBounded, partsOf } from "./bounded.js";
import { memoryOf, type Value } from "./items.js";
import { idOf, nameOf } from "./names.js";
import type { Store } from "./spaces.js";

/** Memories that one call stores. */
const STORES_MAX = 256;
/** Bytes that one call stores, less than the 8,388,608 that it may have. */
const STORE_BYTES_MAX = 8_000_000;
/** Keys that one call deletes: a filter has 65,536 bytes at most. */
const KEYS_MAX = 100;

/** Items of one namespace that are written and deleted. */
interface Writing {
  readonly namespace: string;
  readonly stores: StoreItem[];
  readonly deletes: string[];
}

/**
 * Writes and deletes items; of two operations on one item the last counts. All items are checked before the
 * first is written, but it is no transaction: after an error, others may have been written.
 */
export async function writeAll(
  store: Store,
  operations: readonly PutOperation[],
  fields: readonly string[],
): Promise<void> {
  const last = new Map(operations.map((each) => [JSON.stringify([each.namespace, each.key]), each]));
  const writings = new Map<string, Writing>();
  for (const { namespace: path, key, value, index } of last.values()) {
    const namespace = nameOf(store.root, path);
    const writing = writings.get(namespace) ?? { namespace, stores: [], deletes: [] };
    writings.set(namespace, writing);
    if (value === null) writing.deletes.push(idOf(key));
    else
      writing.stores.push(
        memoryOf({ key, value: value as Value, fields: index === false ? [] : (index ?? fields) }),
      );
  }
  await mapBounded([...writings.values()], (writing) => write(store, writing));
}

async function write({ recalld }: Store, { namespace, stores, deletes }: Writing): Promise<void> {
  for (const memories of callsOf(stores)) await storeAll({ recalld }, namespace, memories);
  for (const ids of partsOf(deletes, KEYS_MAX)) await remove({ recalld }, namespace, ids);
}

async function storeAll(
  { recalld }: Pick<Store, "recalld">,
  namespace: string,
  memories: readonly StoreItem[],
): Promise<void> {
  const keyed = (n: number) => `${namespace}, key ${memories[n]?.externalId}`;
  const { results, requestId } = await recalld.storeBatch({ namespace, memories }).catch((error: unknown) => {
    throw named(error, keyed);
  });
  for (const [n, { error }] of results.entries()) {
    if (error === undefined) continue;
    const { code, message, reason } = error;
    throw new RecalldError(code as ErrorCode, `${keyed(n)}: ${message}`, { reason, requestId });
  }
}

/** Adds to an error about one memory of the call which item it is. */
function named(error: unknown, keyed: (n: number) => string): unknown {
  const [, n] = (error instanceof RecalldError && /^memories\[(\d+)\]/.exec(error.field ?? "")) || [];
  if (!(error instanceof RecalldError) || n === undefined) return error;
  const { code, message, requestId, status } = error;
  const said = message.replace(/^memories\[\d+\]\./, "");
  return new RecalldError(code, `${keyed(Number(n))}: ${said}`, {
    field: "value",
    requestId,
    status,
    cause: error,
  });
}

async function remove({ recalld }: Pick<Store, "recalld">, namespace: string, ids: readonly string[]) {
  const filter = { $external_id: { $in: ids } };
  for (let more = true; more; ) ({ more } = await recalld.deleteMemories({ namespace, filter }));
}

/** Cuts memories into calls that are neither too many nor too large. */
function* callsOf(memories: readonly StoreItem[]): Generator<StoreItem[]> {
  let call: StoreItem[] = [];
  let bytes = 0;
  for (const memory of memories) {
    const own = new TextEncoder().encode(JSON.stringify(memory)).length;
    if (call.length > 0 && (call.length === STORES_MAX || bytes + own > STORE_BYTES_MAX)) {
      yield call;
      call = [];
      bytes = 0;
    }
    call.push(memory);
    bytes += own;
  }
  if (call.length > 0) yield call;
}
