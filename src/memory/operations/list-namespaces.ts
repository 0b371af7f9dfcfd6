import { mapConcurrently } from "../../concurrency/map-concurrently.js";
import { measureNamespace } from "../log/living-log.js";
import type { Measured } from "../ports/log.js";
import { expectWhole } from "../ports/names.js";
import type { Caller } from "../ports/quota.js";
import { parseNamespace, parsePrefix } from "../requests/namespace.js";
import { badToken, type Page, parsePageSize, parsePageToken, tokenOf } from "../requests/page.js";
import type { Ports } from "./ports.js";

/** Maximum number of namespaces measured at a time. */
const MEASURING_MAX = 4;
/** Maximum number of lists of names read for one page: some may be of namespaces that are being dropped. */
const ROUNDS_MAX = 10;

export interface ListNamespacesRequest {
  readonly caller: Caller;
  readonly pageSize?: number | undefined;
  readonly pageToken: string;
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
  ports: Ports,
  { caller, ...request }: ListNamespacesRequest,
): Promise<Page<Namespace>> {
  const limit = parsePageSize(request.pageSize);
  const prefix = parsePrefix(request.prefix ?? "");
  const prefixInToken = prefix === "" ? [] : [prefix];
  const token = parsePageToken(request.pageToken, "namespaces", 1 + prefixInToken.length);
  let [after] = token ?? [];
  // A forged token could have a name that databases do not take as a key.
  if (after !== undefined) parseNamespace(after, "page_token");
  if (token !== undefined && token[1] !== prefixInToken[0]) throw badToken();
  await ports.quota.verify(caller);
  const { accountId, namespace: own } = caller;
  if (own !== undefined) {
    const held = own.startsWith(prefix) && (await measureNamespace(ports, { accountId, namespace: own }));
    return { items: held ? [{ namespace: own, ...held }] : [], nextPageToken: "" };
  }
  const items: Namespace[] = [];
  for (let round = 0; round < ROUNDS_MAX && items.length < limit; round++) {
    const wanted = limit - items.length;
    const cursor = after === undefined ? undefined : { accountId, namespace: after };
    // One more than the page holds, to know whether others follow.
    const listed = await ports.names.list({ accountId, prefix, after: cursor, limit: wanted + 1 });
    const named = expectWhole(listed);
    const page = named.slice(0, wanted);
    const measured = await mapConcurrently(page, MEASURING_MAX, async ({ scope }) => {
      const held = await measureNamespace(ports, scope);
      return held === undefined ? [] : [{ namespace: scope.namespace, ...held }];
    });
    items.push(...measured.flat());
    after = page.at(-1)?.scope.namespace ?? after;
    if (named.length <= wanted) return { items, nextPageToken: "" };
  }
  return { items, nextPageToken: tokenOf(["namespaces", after, ...prefixInToken]) };
}
