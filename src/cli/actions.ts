import { whole } from "../operator/show.js";
import type { Json } from "./client.js";
import { print, short, tableOf } from "./output.js";
import { profilePath, serverOf, writeProfile } from "./profile.js";
import { type Common, type In, service } from "./service.js";
import { hasText, metadataGiven, textGiven } from "./texts.js";

/** Rows that the service gives at most in one page. */
const PAGE_SIZE_MAX = 100;

export async function signUp({ email, ...given }: Common & { email?: string }): Promise<void> {
  const { url } = serverOf(given, process.env);
  const answer = await service(given, { needsKey: false })("AccountService.SignUp", {
    ...(email && { email }),
  });
  const path = profilePath(process.env);
  writeProfile(path, { url, api_key: String(answer.api_key) });
  print(given, { account_id: answer.account_id, profile: path }, () => [
    `Account ${answer.account_id}. Its key is in ${path}, which only you can read.`,
  ]);
}

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
  given: string | undefined,
  { namespace, file, metadata, externalId, onConflict, supersedes, ttl, ...common }: Storing,
): Promise<void> {
  const text = await textGiven(given, file);
  const fields = metadataGiven(metadata);
  const answer = await service(common)("MemoryService.Store", {
    ...{ text, namespace, external_id: externalId, on_conflict: onConflict?.toUpperCase(), ttl },
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
  readonly ttl?: string;
  readonly expires?: string;
  readonly etag?: string;
}

export async function update(
  id: string,
  given: string | undefined,
  { namespace, file, metadata, ttl, expires, etag, ...common }: Updating,
): Promise<void> {
  const fields = metadataGiven(metadata);
  const isOther = fields !== undefined || ttl !== undefined || expires !== undefined;
  const text = hasText(given, file) || !isOther ? await textGiven(given, file) : undefined;
  const body = { namespace, id, text, ttl, expire_time: expires, etag, ...(fields && { metadata: fields }) };
  const answer = await service(common)("MemoryService.UpdateMemory", body);
  print(common, answer, () => [`${id} updated in ${namespace}`]);
}

export async function recall(
  query: string,
  { namespace, topK, cosine, ...common }: In & { topK?: number; cosine?: boolean },
): Promise<void> {
  const mode = cosine === true ? "COSINE" : "HYBRID";
  const body = { query, namespace, mode, ...(topK !== undefined && { top_k: topK }) };
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

export async function list({ namespace, limit, ...common }: In & { limit: number }): Promise<void> {
  const asked = { body: { namespace }, rows: "memories", limit };
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

export async function forget(id: string, { namespace, ...common }: In): Promise<void> {
  const answer = await service(common)("MemoryService.DeleteMemory", { namespace, id });
  print(common, answer, () => [`${id} erased`]);
}

export async function namespaces(common: Common): Promise<void> {
  const all = await allPages(common, "MemoryService.ListNamespaces", { rows: "namespaces" });
  print(common, { namespaces: all }, () =>
    tableOf(
      {
        memories: ({ memories = 0 }) => Number(memories).toLocaleString("en-US"),
        bytes: ({ bytes = 0 }) => Number(bytes).toLocaleString("en-US"),
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
async function allPages(
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

function rowsIn(answer: Json, name: string): Json[] {
  return (answer[name] ?? []) as Json[];
}
