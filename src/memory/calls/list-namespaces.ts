import { pageToken, parsePageSize, parsePageToken } from "../input/page.js";
import { mapSome } from "../pacing/map-some.js";
import type { Head, Log, Measured } from "../ports/log.js";
import type { Caller, Quota } from "../ports/quota.js";
import { endOf } from "./end-of.js";
import type { Page } from "./list.js";

/** Namespaces measured at a time. */
const MEASURING_MAX = 4;
/** Names looked at for one page: some may be of namespaces that are being dropped. */
const ROUNDS_MAX = 10;

export interface ListNamespacesRequest {
  readonly caller: Caller;
  readonly pageSize?: number | undefined;
  /** Empty: the first page. */
  readonly pageToken: string;
}

export interface Namespace extends Measured {
  readonly namespace: string;
}

/** The namespaces that the caller's key may touch, in the order of their names' bytes. */
export async function listNamespaces(
  { quota, log }: { quota: Quota; log: Log },
  { caller, ...request }: ListNamespacesRequest,
): Promise<Page<Namespace>> {
  const limit = parsePageSize(request.pageSize);
  let after = parsePageToken(request.pageToken, ["namespaces", 1])?.[0] ?? "";
  await quota.verify(caller);
  const { accountId } = caller;
  if (caller.namespace !== undefined) return { items: await only(log, caller), nextPageToken: "" };
  const items: Namespace[] = [];
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const asked = limit - items.length;
    const heads = await log.list({ accountId, after, limit: asked });
    items.push(...(await measureAll(log, { accountId, heads })));
    after = heads.at(-1)?.namespace ?? after;
    if (heads.length < asked) return { items, nextPageToken: "" };
    if (items.length === limit) break;
  }
  return { items, nextPageToken: await tokenAfter(log, { accountId, after }) };
}

async function only(log: Log, { accountId, namespace = "" }: Caller): Promise<Namespace[]> {
  const measured = await measure(log, { accountId, namespace });
  return measured === undefined ? [] : [measured];
}

async function tokenAfter(log: Log, of: { accountId: string; after: string }): Promise<string> {
  const more = await log.list({ ...of, limit: 1 });
  return more.length === 0 ? "" : pageToken(["namespaces", of.after]);
}

async function measureAll(
  log: Log,
  { accountId, heads }: { accountId: string; heads: readonly Head[] },
): Promise<Namespace[]> {
  const measured = await mapSome(heads, MEASURING_MAX, ({ namespace }) =>
    measure(log, { accountId, namespace }),
  );
  return measured.filter((each) => each !== undefined);
}

/** Undefined for one that holds nothing yet, or is being dropped. */
async function measure(
  log: Log,
  scope: { accountId: string; namespace: string },
): Promise<Namespace | undefined> {
  const end = await endOf(log, scope);
  if (end === undefined) return undefined;
  return { namespace: scope.namespace, ...(await log.measure(end)) };
}
