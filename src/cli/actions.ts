import { whole } from "../operator/show.js";
import type { Json } from "./client.js";
import { UsageError } from "./failure.js";
import { print, short, tableOf } from "./output.js";
import { type Common, type In, service } from "./service.js";
import { metadataGiven, textGiven } from "./texts.js";

/** Rows that the service gives at most in one page. */
const PAGE_SIZE_MAX = 100;
/** Memories that one call forgets by their ids. */
const IDS_MAX = 256;

interface Storing extends In {
  readonly file?: string;
  readonly metadata: string[];
  readonly externalId?: string;
  readonly onConflict?: string;
  readonly supersedes: string[];
  readonly ttl?: string;
}

/** Told of a text in a script that the server's model hardly knows. */
const UNREAD_HINT = "The server's model hardly reads this script: look for the text by its words.";

export async function store(
  words: readonly string[],
  { namespace, file, metadata, externalId, onConflict, supersedes, ttl, ...common }: Storing,
): Promise<void> {
  const fields = metadataGiven(metadata);
  const text = await textGiven(words, file);
  const answer = await service(common)("MemoryService.Store", {
    ...{ text, namespace, external_id: externalId, on_conflict: onConflict, ttl },
    ...(supersedes.length > 0 && { supersedes }),
    ...(fields && { metadata: fields }),
  });
  const outcome = String(answer.outcome ?? "CREATED");
  const done = { CREATED: "stored", REPLACED: "replaced", KEPT: "kept" }[outcome] ?? outcome;
  const hint = answer.unread_share === undefined ? [] : [UNREAD_HINT];
  print(common, answer, () => [`${answer.id} ${done} in ${namespace}, ${answer.tokens} tokens`, ...hint]);
}

interface Updating extends In {
  readonly file?: string;
  readonly metadata: string[];
  readonly replaceMetadata?: boolean;
  readonly ttl?: string;
  readonly expires?: string;
  readonly etag?: string;
}

export async function update(
  id: string,
  words: readonly string[],
  { namespace, file, metadata, replaceMetadata, ttl, expires, etag, ...common }: Updating,
): Promise<void> {
  const fields = metadataGiven(metadata);
  if (replaceMetadata && fields === undefined) throw new UsageError("--replace-metadata needs --metadata");
  const hasText = words.length > 0 || file !== undefined;
  const isOther = fields !== undefined || ttl !== undefined || expires !== undefined;
  const text = hasText || !isOther ? await textGiven(words, file) : undefined;
  const changes: Json = { text, metadata: fields, expire_time: expires, ttl };
  const merges = fields !== undefined && !replaceMetadata;
  const mask = Object.keys(changes)
    .filter((name) => changes[name] !== undefined)
    .flatMap((name) => (name === "metadata" && merges ? pathsOf(fields) : name));
  const body = { namespace, id, ...changes, etag, update_mask: mask.join(",") };
  const answer = await service(common)("MemoryService.UpdateMemory", body);
  const merged = merges ? ", its metadata merged (--replace-metadata replaces it)" : "";
  print(common, answer, () => [`${id} updated in ${namespace}${merged}`]);
}

function pathsOf(metadata: Json): string[] {
  const keys = Object.keys(metadata);
  const odd = keys.find((key) => key.includes(","));
  if (odd !== undefined) {
    throw new UsageError(`--metadata: ${odd} has a comma, so it cannot be merged; use --replace-metadata`);
  }
  if (keys.length === 0)
    throw new UsageError("--metadata {} changes nothing; --replace-metadata removes all");
  return keys.map((key) => `metadata.${key}`);
}

interface Recalling extends In {
  readonly topK?: number;
  readonly cosine?: boolean;
  readonly mode?: string;
  readonly filter?: unknown;
  readonly after?: string;
  readonly before?: string;
  readonly minScore?: number;
  readonly minFit?: number;
  readonly fields?: string;
}

export async function recall(
  words: readonly string[],
  { namespace, topK, cosine, mode = "HYBRID", minScore, minFit, ...rest }: Recalling,
): Promise<void> {
  const { filter, after, before, fields, ...common } = rest;
  const body = {
    ...{ query: words.join(" "), namespace, mode: cosine === true ? "COSINE" : mode, top_k: topK },
    ...{ filter, after, before, min_score: minScore, min_fit: minFit, fields },
  };
  const answer = await service(common)("MemoryService.Recall", body);
  const results = rowsIn(answer, "results");
  print(common, answer, () =>
    results.length === 0
      ? [`nothing in ${namespace}`]
      : tableOf(
          {
            score: ({ score }) => Number(score ?? 0).toFixed(3),
            words: ({ words }) => (words === undefined ? "" : Number(words).toFixed(3)),
            id: ({ id }) => String(id),
            text: ({ text }) => short(text),
          },
          results,
        ),
  );
}

export async function list({
  namespace,
  limit,
  filter,
  ...common
}: In & { limit: number; filter?: unknown }): Promise<void> {
  const asked = { body: { namespace, filter }, rows: "memories", limit };
  const memories = await allPages(common, "MemoryService.ListMemories", asked);
  print(common, { memories }, () =>
    tableOf(
      {
        id: ({ id }) => String(id),
        stored: ({ created_at }) => String(created_at ?? "").slice(0, 19),
        text: ({ text }) => short(text),
      },
      memories,
    ),
  );
}

export async function get(id: string, { namespace, ...common }: In): Promise<void> {
  const answer = await service(common)("MemoryService.GetMemory", { namespace, id });
  const memory = answer.memory as Json;
  print(common, memory, () => [
    whole(memory.text),
    ...(memory.metadata === undefined ? [] : [whole(JSON.stringify(memory.metadata))]),
    `${memory.id}, stored ${memory.created_at}, ${memory.tokens} tokens`,
  ]);
}

export async function count({ namespace, filter, ...common }: In & { filter?: unknown }): Promise<void> {
  const answer = await service(common)("MemoryService.CountMemories", { namespace, filter });
  print(common, answer, () => [`${numberIn(answer, "memories")} memories in ${namespace}`]);
}

interface Forgetting extends In {
  readonly filter?: unknown;
  readonly all?: boolean;
}

export async function forget(
  ids: readonly string[],
  { namespace, filter, all, ...common }: Forgetting,
): Promise<void> {
  const ways = [ids.length > 0, filter !== undefined, all === true].filter(Boolean);
  if (ways.length !== 1) throw new UsageError("say what to forget: ids, --filter or --all, and one of them");
  const ask = service(common);
  if (all) return void (await dropNamespace(namespace, { ...common, force: true }));
  const [id] = ids;
  if (ids.length === 1) {
    const answer = await ask("MemoryService.DeleteMemory", { namespace, id });
    return print(common, answer, () => [`${id} erased`]);
  }
  let deleted = 0;
  const batches = filter === undefined ? batchesOf(ids).map((batch) => ({ ids: batch })) : [{ filter }];
  for (const what of batches) {
    for (let more = true; more; ) {
      const answer = await ask("MemoryService.DeleteMemories", { namespace, ...what });
      deleted += Number(answer.deleted ?? 0);
      more = answer.more === true;
    }
  }
  const missing = filter === undefined ? new Set(ids).size - deleted : 0;
  const rest = missing > 0 ? `, ${missing} were not there` : "";
  print(common, { deleted, ...(filter === undefined && { missing }) }, () => [`${deleted} erased${rest}`]);
}

function batchesOf(ids: readonly string[]): string[][] {
  const distinct = [...new Set(ids)];
  return Array.from({ length: Math.ceil(distinct.length / IDS_MAX) }, (_, i) =>
    distinct.slice(i * IDS_MAX, (i + 1) * IDS_MAX),
  );
}

export async function dropNamespace(
  namespace: string,
  { force = false, ...common }: Common & { force?: boolean },
): Promise<void> {
  const answer = await service(common)("MemoryService.DeleteNamespace", { namespace, force });
  const { deleted = 0 } = answer;
  print(common, { namespace, deleted }, () => [`${namespace} deleted, with ${deleted} memories`]);
}

export async function namespaces(common: Common): Promise<void> {
  const all = await allPages(common, "MemoryService.ListNamespaces", { rows: "namespaces" });
  print(common, { namespaces: all }, () =>
    tableOf(
      {
        memories: (row) => numberIn(row, "memories"),
        bytes: (row) => numberIn(row, "bytes"),
        namespace: ({ namespace }) => short(namespace),
      },
      all,
    ),
  );
}

interface Listing {
  readonly body?: Json;
  /** Field of the answer that has the page. */
  readonly rows: string;
  /** Maximum number of rows; all if left out. */
  readonly limit?: number;
}

/** Asks for page after page, until there are no more or there are enough. */
export async function allPages(
  common: Common,
  method: string,
  { body = {}, rows, limit = Number.POSITIVE_INFINITY }: Listing,
): Promise<Json[]> {
  const ask = service(common);
  const all: Json[] = [];
  let pageToken = "";
  while (all.length < limit) {
    const pageSize = Math.min(PAGE_SIZE_MAX, limit - all.length);
    const page = await ask(method, { ...body, page_size: pageSize, page_token: pageToken });
    all.push(...rowsIn(page, rows));
    pageToken = String(page.next_page_token ?? "");
    if (pageToken === "") break;
  }
  return all;
}

/** Formats a number of an answer; one that is left out is 0. */
export function numberIn(row: Json, name: string): string {
  return Number(row[name] ?? 0).toLocaleString("en-US");
}

export function rowsIn(answer: Json, name: string): Json[] {
  return (answer[name] ?? []) as Json[];
}
