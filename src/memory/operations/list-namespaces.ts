import { mapSome } from "../../concurrency/map-some.js";
import { followMoves, heldLogOf, measureNamespace, type NamedLogs } from "../log/living-log.js";
import type { Measured } from "../ports/log.js";
import type { NamespaceHead } from "../ports/names.js";
import type { Caller, Quota } from "../ports/quota.js";
import { parsePrefix } from "../requests/namespace.js";
import { badToken, type Page, pageToken, parsePageSize, parsePageToken } from "../requests/page.js";

/** Maximum number of namespaces measured at a time. */
const MEASURING_MAX = 4;
/** Maximum number of lists read for one page: some names may be of namespaces that are being dropped. */
const ROUNDS_MAX = 10;

export interface ListNamespacesRequest {
  readonly caller: Caller;
  readonly pageSize?: number | undefined;
  /** Empty means the first page. */
  readonly pageToken: string;
  /** Beginning of the names; empty means all namespaces. */
  readonly prefix?: string | undefined;
}

export interface Namespace extends Measured {
  readonly namespace: string;
}

/**
 * Lists the namespaces that the caller's key may access, ordered by their names' bytes. Costs nothing.
 *
 * @throws MemoryError `invalid_argument` also for the token of another prefix.
 */
export async function listNamespaces(
  { quota, ...ports }: NamedLogs & { readonly quota: Quota },
  { caller, ...request }: ListNamespacesRequest,
): Promise<Page<Namespace>> {
  const limit = parsePageSize(request.pageSize);
  const prefix = parsePrefix(request.prefix ?? "");
  let after = placeIn(prefix, request.pageToken);
  await quota.verify(caller);
  const { accountId } = caller;
  if (caller.namespace !== undefined) {
    const items = caller.namespace.startsWith(prefix) ? await only(ports, caller) : [];
    return { items, nextPageToken: "" };
  }
  const items: Namespace[] = [];
  for (let round = 0; round < ROUNDS_MAX && items.length < limit; round++) {
    const asked = limit - items.length;
    // One more than the page holds, to know whether others follow.
    const heads = await ports.names.list({ accountId, after, prefix, limit: asked + 1 });
    const shown = heads.slice(0, asked);
    items.push(...(await measureAll(ports, { accountId, heads: shown })));
    after = shown.at(-1)?.namespace ?? after;
    if (heads.length <= asked) return { items, nextPageToken: "" };
  }
  return { items, nextPageToken: pageToken(["namespaces", after, ...(prefix === "" ? [] : [prefix])]) };
}

function placeIn(prefix: string, token: string): string {
  const [after = "", asked = ""] = parsePageToken(token, ["namespaces", prefix === "" ? 1 : 2]) ?? [
    "",
    prefix,
  ];
  if (asked !== prefix) throw badToken();
  return after;
}

/** Lists the one namespace that the caller's key is for. */
async function only(ports: NamedLogs, { accountId, namespace = "" }: Caller): Promise<Namespace[]> {
  const measured = await measureNamespace(ports, { accountId, namespace });
  return measured === undefined ? [] : [{ namespace, ...measured }];
}

async function measureAll(
  ports: NamedLogs,
  { accountId, heads }: { accountId: string; heads: readonly NamespaceHead[] },
): Promise<Namespace[]> {
  const measured = await mapSome(heads, MEASURING_MAX, async ({ namespace, logId }) => {
    const listed = await followMoves(ports.log, logId);
    // After a drop, the name may belong to another log by now.
    const held = listed.dropped ? await heldLogOf(ports, { accountId, namespace }) : listed;
    return held && held.last > 0 ? { namespace, ...(await ports.log.measure(held)) } : undefined;
  });
  return measured.filter((each) => each !== undefined);
}
