// Generated from proto/ by scripts/generate-client.ts: `npm run generate`.

/** Any value that JSON has. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Anything that is handed back with a memory. */
export type Metadata = { readonly [key: string]: Json };

export interface StoreRequest {
  /** What to remember: not blank, at most 65,536 bytes of UTF-8. A text that is longer than the model reads at once is read in overlapping windows, and found by the nearest of them. */
  readonly text: string;
  /** Where: 1 to 256 bytes of UTF-8 without control characters, and without a space at either end. Names are compared byte by byte and belong to the account: two accounts may use the same name and never see each other. */
  readonly namespace: string;
  /** Anything to hand back with the memory, and what filters look at: at most 16,384 bytes as JSON, 16 levels deep, finite numbers. Numbers are doubles: an integer that would come back with other digits, and -0, are refused. */
  readonly metadata?: Metadata | undefined;
  /** Your own id for the memory: up to 256 bytes of UTF-8 without control characters, unique among the memories of its namespace. Empty means none. */
  readonly externalId?: string | undefined;
  /** What to do if a memory has the external id already. Left out, it is REFUSE. */
  readonly onConflict?: OnConflict | undefined;
  /** A time in the future, up to the end of the year 9999; milliseconds count. */
  readonly expireTime?: string | Date | undefined;
  /** How long from now; in JSON a string like "3600s". */
  readonly ttl?: string | undefined;
  /** Ids of up to 16 memories of the namespace that this one corrects. They are hidden from Recall and ListMemories unless `includeSuperseded` is set, and GetMemory says what superseded them. That cannot be undone: deleting this memory does not bring them back. */
  readonly supersedes?: readonly string[] | undefined;
  /** Lists up to 3 memories that were there already and have at least this score for the text, from 0 to 1. Costs no second call. */
  readonly similarAbove?: number | undefined;
  /** When what the text tells of happened, if that is not now: a time from the year 1 to the year 9999; milliseconds count. Filters (`$event_time`), lists and `after` and `before` of a recall compare it. Without one, a memory has the time when it was stored. */
  readonly eventTime?: string | Date | undefined;
  /** What to do if the text or a string of the metadata has what looks like a secret, such as a service's key, a private key, a JWT or a card number. Left out, it is what the server is set to (`ON_SECRET`). */
  readonly onSecret?: OnSecret | undefined;
  /** What to do if a memory is there with at least the score `similarAbove`, which must be set then; not together with `externalId`. Left out, it is STORE. */
  readonly onSimilar?: OnSimilar | undefined;
}

/**
 * What a store does if a memory has its external id.
 *
 * - `REFUSE`: The store fails with `already_exists`, which names the memory.
 * - `REPLACE`: The memory keeps its id and gets the new text, metadata, expiry and event time.
 * - `KEEP`: The memory stays as it is and is the answer, which costs nothing.
 */
export type OnConflict = "REFUSE" | "REPLACE" | "KEEP";

/**
 * What a call does if its text or metadata has what looks like a secret.
 *
 * - `STORE`: It stores them as they are, and does not look for secrets.
 * - `REDACT`: It stores `[REDACTED]` in the place of each secret; the answer tells kind and place of each. A key of the metadata cannot be redacted: such a call fails as with REFUSE.
 * - `REFUSE`: It fails with `invalid_argument` and the reason SECRET_FOUND, whose details tell kind and place of each secret, and costs nothing.
 */
export type OnSecret = "STORE" | "REDACT" | "REFUSE";

/**
 * What a store does if a memory that says the same is there already.
 *
 * - `STORE`: It stores the memory beside it.
 * - `KEEP`: The most similar memory stays as it is and is the answer. It costs a call.
 * - `SUPERSEDE`: It stores the memory, which supersedes the most similar one.
 */
export type OnSimilar = "STORE" | "KEEP" | "SUPERSEDE";

export interface StoreResponse {
  /** The memory's id: `mem_` and 26 characters (a TypeID, sortable by time). */
  readonly id: string;
  /** The namespace, as it was given. */
  readonly namespace: string;
  /** The model's tokens of the whole text, special tokens not counted. */
  readonly tokens: number;
  /** When it was stored, by the server's clock, in milliseconds' precision. A memory that was replaced or kept has the time when it was stored first. */
  readonly createdAt: string;
  /** What happened. This, `etag` and `similar` are absent unless the request had any of `externalId`, `expireTime`, `ttl`, `supersedes` or `similarAbove`. */
  readonly outcome?: Outcome;
  /** Names this version of the memory; UpdateMemory takes it. */
  readonly etag?: string;
  /** The memories that are most like the text, if `similarAbove` was set. */
  readonly similar?: Similar;
  /** The share of the text's letters and emoji in scripts that the model hardly knows, above 0.5 and up to 1; absent if it is less. The model may take any two such texts for alike: recall them by their words (`HYBRID`), or choose a model that reads their language. */
  readonly unreadShare?: number;
  /** What was redacted, because `onSecret` or the server asks for it. Absent if nothing was. */
  readonly redacted?: Redacted;
}

/**
 * What a store did.
 *
 * - `CREATED`: It made a new memory.
 * - `REPLACED`: It made a new version of the memory with the external id.
 * - `KEPT`: The memory with the external id stays as it is, or the similar one of `onSimilar`.
 */
export type Outcome = "CREATED" | "REPLACED" | "KEPT";

/** Memories that are like a text that was stored. */
export interface Similar {
  /** At most 3, the most similar first. */
  readonly memories: readonly SimilarMemory[];
}

/** A memory that was there before a text like it was stored. */
export interface SimilarMemory {
  /** The memory's id. */
  readonly id: string;
  /** The text, exactly as it was stored. */
  readonly text: string;
  /** The cosine of the two, from 0 to 1. */
  readonly score: number;
}

/** What was redacted in a text and its metadata. */
export interface Redacted {
  /** The first 8. */
  readonly secrets: readonly FoundSecret[];
  /** How many they are in all. */
  readonly count: number;
}

/** Kind and place of what looks like a secret. */
export interface FoundSecret {
  /** What it looks like: `github_token`, `card_number`. */
  readonly kind: string;
  /** Where it stands: `text`, or a path such as `metadata.notes[0].login`. A path of more than 100 characters is cut. */
  readonly field: string;
  /** Its first code point in that string, as it was sent. */
  readonly start: number;
  /** Behind its last code point. */
  readonly end: number;
}

export interface StoreBatchRequest {
  /** Where, as for Store; the same for all. */
  readonly namespace: string;
  /** What to remember: 1 to 256 memories. The body of the call may have 8,388,608 bytes. */
  readonly memories: readonly StoreItem[];
}

/** One memory of a batch. */
export interface StoreItem {
  /** What to remember, as for Store. */
  readonly text: string;
  /** Anything to hand back with the memory, as for Store. */
  readonly metadata?: Metadata | undefined;
  /** Your own id for the memory, as for Store. */
  readonly externalId?: string | undefined;
  /** What to do if a memory has the external id already, as for Store; also one that stands before this one in the batch. */
  readonly onConflict?: OnConflict | undefined;
  /** A time in the future. */
  readonly expireTime?: string | Date | undefined;
  /** How long from now. */
  readonly ttl?: string | undefined;
  /** Ids of up to 16 memories of the namespace that this one corrects, as for Store. */
  readonly supersedes?: readonly string[] | undefined;
  /** When what the text tells of happened, as for Store. */
  readonly eventTime?: string | Date | undefined;
  /** What to do if it has what looks like a secret, as for Store. With REFUSE the batch fails. */
  readonly onSecret?: OnSecret | undefined;
}

export interface StoreBatchResponse {
  /** A result for each memory, in the order of the request. */
  readonly results: readonly StoreBatchResult[];
  /** The namespace, as it was given. */
  readonly namespace: string;
}

/** What became of one memory of a batch. */
export interface StoreBatchResult {
  /** The memory was stored. */
  readonly stored?: StoredItem;
  /** The memory was not stored, and costs nothing. After `unavailable` it may be stored all the same, as with Store. */
  readonly error?: Problem;
}

/** A memory that was stored. */
export interface StoredItem {
  /** The memory's id. */
  readonly id: string;
  /** The model's tokens of the whole text, special tokens not counted. */
  readonly tokens: number;
  /** When it was stored, as for Store. */
  readonly createdAt: string;
  /** What happened. This and the etag are absent unless the memory of the request had any of `externalId`, `expireTime`, `ttl` or `supersedes`. */
  readonly outcome?: Outcome;
  /** Names this version of the memory; UpdateMemory takes it. */
  readonly etag?: string;
  /** The share of the text that the model can hardly read, as for Store. */
  readonly unreadShare?: number;
  /** What was redacted, as for Store. */
  readonly redacted?: Redacted;
}

/** Why one part of a call failed while others did not. */
export interface Problem {
  /** The error's name, as in errors in JSON: `unavailable`. */
  readonly code: string;
  /** What to fix, in plain words. */
  readonly message: string;
  /** A constant that programs can branch on; empty if the error has none. */
  readonly reason: string;
}

export interface RecallRequest {
  /** The question, in plain words: not blank, at most 65,536 bytes of UTF-8. A long one is read in windows, like a text. A recall has exactly one of `query`, `queries` and `likeId`. */
  readonly query?: string | undefined;
  /** The namespace to search. */
  readonly namespace: string;
  /** How many memories to return at most: 1 to 20, 5 when left out. A server may allow up to 200 (`TOP_K_MAX`). */
  readonly topK?: number | undefined;
  /** What the results are ordered by. Left out, it is what the server is set to (`RECALL_MODE`): by meaning alone, unless the operator says otherwise. */
  readonly mode?: Mode | undefined;
  /** Whether each result says why it stands where it does. */
  readonly explain?: boolean | undefined;
  /** The lowest score that a result may have, from 0 to 1. The others are left out, and the order of the rest stays as it is. */
  readonly minScore?: number | undefined;
  /** Which memories may be found: a filter in the language that docs/filters.md describes, such as `{"source": "mail", "year": {"$gte": 2024}}`. All when left out or empty. */
  readonly filter?: Metadata | undefined;
  /** Whether memories that others superseded are results, too. */
  readonly includeSuperseded?: boolean | undefined;
  /** Only memories of what happened after this time: `$event_time` is greater, which is when a memory was stored, unless it has an event time of its own. */
  readonly after?: string | Date | undefined;
  /** Only memories of what happened before this time: `$event_time` is less. */
  readonly before?: string | Date | undefined;
  /** The fields of the results that are sent: `"id,score"`. All of them when left out; `id` in any case. */
  readonly fields?: string | readonly string[] | undefined;
  /** The lowest fit that a result may have, from 0 to 1.5; only with `HYBRID`. The fit is the score and half the share of the query's words, whatever else is stored. 0.4 leaves out much of what has nothing to do with the query. */
  readonly minFit?: number | undefined;
  /** Lets newer memories stand higher. It leaves none out, and `minScore` and `minFit` do not count it. Left out, age does not matter. */
  readonly recency?: Recency | undefined;
  /** How many tokens the texts of the results may have together, as `tokens` of a memory counts them. The results end where the next text would pass it; there is at least one result, if any is found. */
  readonly maxTokens?: number | undefined;
  /** Up to 8 questions in place of `query`. The answer has the best results of all of them, each memory once. Each question costs one call. */
  readonly queries?: readonly string[] | undefined;
  /** The id of a memory of `namespace`, in place of `query`: the results are those most like it, without itself. Its stored vectors are compared, so nothing is embedded; of a long text, 64 of its windows. */
  readonly likeId?: string | undefined;
  /** Up to 7 other namespaces to search as well. The answer has the best results of all in one order, and each names its namespace. A query is embedded and paid once, whatever their number. The key must be allowed to read all of them. With `HYBRID`, words count as the statistics of each namespace say. */
  readonly alsoIn?: readonly string[] | undefined;
  /** The memories that were created just before and after each result in its namespace are sent with it. */
  readonly neighbors?: Neighbors | undefined;
}

/**
 * What results are ordered by.
 *
 * - `COSINE`: The score alone: meaning.
 * - `HYBRID`: Meaning and words together. The words count more, the less the best memory stands out by its meaning. Results are not in the order of their scores.
 */
export type Mode = "COSINE" | "HYBRID";

/** How much the age of a memory counts: `weight * 2^(-age / half_life)` is added to what results are ordered by. The age is the time from `$event_time` to `referenceTime`, and 0 for what happens later. In a namespace of up to about 20,000 vectors all memories are compared so, in a larger one the 200 that are nearest to the query, and with `HYBRID` the 200 whose words fit best. */
export interface Recency {
  /** The time in which what is added falls to a half: more than 0. In JSON a string like "2592000s", which is 30 days. */
  readonly halfLife: string;
  /** What is added for a memory of the age 0, from 0 to 0.5. */
  readonly weight: number;
  /** The time at which the age is 0, from the year 1 to the year 9999; now, if left out. */
  readonly referenceTime?: string | Date | undefined;
}

/** Which memories are sent with each result of a recall, because they were created just before or after it: by `createdAt`, and then by id. At least one of the two numbers is above 0. The filter of the recall does not count. */
export interface Neighbors {
  /** How many that were created before it: 0 to 5. */
  readonly before?: number | undefined;
  /** How many that were created after it: 0 to 5. */
  readonly after?: number | undefined;
  /** A path in the metadata, as in a filter, such as `session`: memories with another value there are skipped. Empty means that none are. */
  readonly same?: string | undefined;
}

export interface RecallResponse {
  /** Best first. Unless `minScore` or `minFit` asks for it, none is dropped for a low score: there are fewer than `topK` only when the namespace holds fewer, or fewer match the filter. */
  readonly results: readonly RecallResult[];
  /** The namespace, as it was given. */
  readonly namespace: string;
  /** The model's tokens of the whole query, special tokens not counted; of all `queries` together; 0 for `likeId`. */
  readonly queryTokens: number;
  /** How many memories were considered: all that CountMemories counts. Only in an answer that is empty because of `minScore`, `minFit`, a filter, `after` or `before`, or because the namespace does not exist: then it is 0, so that a mistyped name is noticed. With `alsoIn`, it is the sum of all. */
  readonly considered?: number;
  /** What `minFit` has left out; only if the request asks for reasons (`explain`). */
  readonly omitted?: OmittedMemories;
  /** True if more was found than the answer has room for: because of `maxTokens`, or because texts and metadata have reached 1,638,400 bytes. Absent otherwise. */
  readonly shortened?: boolean;
}

/** One recalled memory. A field that the request's `fields` does not name is absent, and JSON then has `""` for `text` and 0 for `score`. */
export interface RecallResult {
  /** The memory's id. */
  readonly id: string;
  /** The text, exactly as it was stored. */
  readonly text: string;
  /** The cosine of the stored vector and the query, from 0 (nothing in common) to 1 (the same). With the bundled model above 0.80 is a strong match; of other models GetAccount may tell it (`model.strong_score`). Of a long text it is that of the window nearest to the query. */
  readonly score: number;
  /** The metadata as it was stored; an empty object when there was none. */
  readonly metadata?: Metadata;
  /** When it was stored. */
  readonly createdAt?: string;
  /** The part of the text that the score is of: all of it, unless the text is longer than the model reads at once. */
  readonly match?: Match;
  /** The share of the query's words that the text has, from 0 to 1; rare words count more. Only with `HYBRID`. */
  readonly words?: number;
  /** Why the result stands where it does; only if the request asks for it. */
  readonly explanation?: Explanation;
  /** Names this version of the memory. This and the fields below are absent unless the request has `minScore`, `minFit`, `filter`, `after`, `before`, `includeSuperseded` or `fields`. */
  readonly etag?: string;
  /** When its text, metadata, expiry or event time was changed last. */
  readonly updatedAt?: string;
  /** Your own id for it, if it has one. */
  readonly externalId?: string;
  /** The id of the memory that superseded it, if one did. */
  readonly supersededBy?: string;
  /** When it expires, if it does. */
  readonly expireTime?: string;
  /** When what it tells of happened, if it was stored with an event time; in any recall. */
  readonly eventTime?: string;
  /** The memories created just before it. Only with `neighbors`. */
  readonly before?: NeighborMemories;
  /** The memories created just after it. Only with `neighbors`. */
  readonly after?: NeighborMemories;
  /** Its namespace. Only with `alsoIn`. */
  readonly namespace?: string;
  /** Which of `queries` it fits best, counted from 0. Only with `queries`. */
  readonly queryIndex?: number;
}

/** A part of a text, counted in Unicode code points: neither in bytes nor in UTF-16 units. In Python it is `text[start:end]`. */
export interface Match {
  readonly start: number;
  /** Behind its last code point. */
  readonly end: number;
}

/** Why a result stands where it does. */
export interface Explanation {
  /** What results are ordered by, the highest first: the score, `weight` times the share of the query's words, and `recency`. */
  readonly rank: number;
  /** What the words counted for in this recall, from 0 to 1; 0 when results are ordered by meaning alone. */
  readonly weight: number;
  /** The words of the query that the text has, in lower case and in the order of the query. */
  readonly matched: readonly string[];
  /** The score and half the share of the query's words, which `minFit` is compared with. Only with `HYBRID`. */
  readonly fit?: number;
  /** What the memory's age adds to the rank. Only if the request has `recency`. */
  readonly recency?: number;
}

/** Memories created just before or after a result. */
export interface NeighborMemories {
  /** The oldest first. */
  readonly memories: readonly Memory[];
}

/** One memory, without a score. */
export interface Memory {
  /** The memory's id. */
  readonly id: string;
  /** The text, exactly as it was stored. */
  readonly text: string;
  /** The metadata as it was stored; an empty object when there was none. */
  readonly metadata: Metadata;
  /** The model's tokens of the whole text, special tokens not counted. */
  readonly tokens: number;
  /** When it was stored. */
  readonly createdAt: string;
  /** Names this version of the memory: another version has another etag. */
  readonly etag: string;
  /** When its text, metadata, expiry or event time was changed last; when it was stored, if never. */
  readonly updatedAt: string;
  /** Your own id for it, if it has one. */
  readonly externalId?: string;
  /** The id of the memory that superseded it, if one did. */
  readonly supersededBy?: string;
  /** When it expires, if it does. */
  readonly expireTime?: string;
  /** When what it tells of happened, if it was stored with an event time. */
  readonly eventTime?: string;
}

/** Memories that `minFit` has left out. */
export interface OmittedMemories {
  /** Those that were among the `topK` best, best first. */
  readonly memories: readonly OmittedMemory[];
}

/** A memory that was left out because it fits the query too little. */
export interface OmittedMemory {
  /** The memory's id. */
  readonly id: string;
  /** Its score, as of a result. */
  readonly score: number;
  /** Its share of the query's words, as of a result. */
  readonly words: number;
  /** Less than the request's `minFit`. */
  readonly fit: number;
}

export interface GetMemoryRequest {
  /** The namespace the memory is in. */
  readonly namespace: string;
  /** The memory's id, `mem_…`. */
  readonly id: string;
}

export interface GetMemoryResponse {
  readonly memory: Memory;
  /** The namespace, as it was given. */
  readonly namespace: string;
}

export interface GetMemoriesRequest {
  /** The namespace the memories are in. */
  readonly namespace: string;
  /** The memories' ids, `mem_…`: 1 to 256. An id that comes twice counts once. */
  readonly ids: readonly string[];
}

export interface GetMemoriesResponse {
  /** In the order of the request. The answer ends with the memory that brings texts and metadata to 1 MiB. */
  readonly memories: readonly Memory[];
  /** The ids that no memory of the namespace has. */
  readonly missing: readonly string[];
  /** The namespace, as it was given. */
  readonly namespace: string;
  /** The ids that this answer had no room for: ask for them again. Empty unless the memories are long. */
  readonly remaining: readonly string[];
}

export interface UpdateMemoryRequest {
  /** The namespace the memory is in. */
  readonly namespace: string;
  /** The memory's id, `mem_…`. */
  readonly id: string;
  /** The new text, as for Store. */
  readonly text?: string | undefined;
  /** The new metadata, or the keys that `updateMask` names. */
  readonly metadata?: Metadata | undefined;
  /** A time in the future, up to the end of the year 9999. */
  readonly expireTime?: string | Date | undefined;
  /** How long from now; in JSON a string like "3600s". */
  readonly ttl?: string | undefined;
  /** What to update: `text`, `metadata`, `metadata.KEY` for one key, `expireTime` or `ttl`, and `eventTime`. Left out, it is all that is given. Metadata, a key, the expiry and the event time are removed if they are named here and not given. In JSON it is one string, with commas between the paths. */
  readonly updateMask?: string | readonly string[] | undefined;
  /** The etag that the memory must have: if it was changed since, the update is `aborted`, and nothing is done. Empty means any. */
  readonly etag?: string | undefined;
  /** When what the text tells of happened, as for Store. */
  readonly eventTime?: string | Date | undefined;
  /** What to do if the new text or metadata has what looks like a secret, as for Store. */
  readonly onSecret?: OnSecret | undefined;
}

export interface UpdateMemoryResponse {
  /** The memory as it is now. */
  readonly memory: Memory;
  /** The namespace, as it was given. */
  readonly namespace: string;
  /** What was redacted, as for Store. */
  readonly redacted?: Redacted;
}

export interface DeleteMemoryRequest {
  /** The namespace the memory is in. */
  readonly namespace: string;
  /** The memory's id, `mem_…`. */
  readonly id: string;
}

export interface DeleteMemoryResponse {
  /** The id of what was forgotten. */
  readonly id: string;
}

export interface DeleteMemoriesRequest {
  /** The namespace the memories are in. */
  readonly namespace: string;
  /** The memories' ids, `mem_…`: 1 to 256, or none if there is a filter. An id that comes twice counts once. */
  readonly ids?: readonly string[] | undefined;
  /** Which memories to forget, in place of ids: a filter in the language that docs/filters.md describes. An empty one is refused. */
  readonly filter?: Metadata | undefined;
  /** Forget nothing yet: the answer tells what the filter matches. */
  readonly dryRun?: boolean | undefined;
  /** Whether the filter also finds memories that others superseded. It leaves them alone otherwise. */
  readonly includeSuperseded?: boolean | undefined;
}

export interface DeleteMemoriesResponse {
  /** How many memories were there, and are forgotten now. */
  readonly deleted: number;
  /** Whether others are left, because time ran out or the filter matches more: send the same request again. */
  readonly more: boolean;
  /** Some of the memories that the filter matches, the oldest, up to 20. Only of a dry run. */
  readonly samples: readonly Memory[];
  /** The namespace, as it was given. */
  readonly namespace: string;
  /** How many memories the filter matches. Only of a dry run. */
  readonly matched?: number;
}

export interface UpdateMemoriesRequest {
  /** The namespace the memories are in. */
  readonly namespace: string;
  /** The memories' ids, `mem_…`: 1 to 256, or none if there is a filter. An id that comes twice counts once. */
  readonly ids?: readonly string[] | undefined;
  /** Which memories to update, in place of ids: a filter in the language that docs/filters.md describes. An empty one is refused; memories that others superseded match none, because they cannot be updated. */
  readonly filter?: Metadata | undefined;
  /** What to merge into the metadata of each, as a JSON merge patch (RFC 7396): objects are merged at every depth, null removes a key, and anything else, arrays too, takes the place of what was there. It is applied after `remove`. */
  readonly metadata?: Metadata | undefined;
  /** Paths to remove from the metadata of each, written as in filters: `a.b` is the key `b` of the object `a`. Up to 256. A path that leads nowhere is no error. */
  readonly remove?: readonly string[] | undefined;
  /** Update nothing yet: the answer tells what the filter matches. */
  readonly dryRun?: boolean | undefined;
  /** `nextPageToken` of the answer before; left out at first. The other fields stay as they were. */
  readonly pageToken?: string | undefined;
}

export interface UpdateMemoriesResponse {
  /** How many memories were changed. */
  readonly updated: number;
  /** How many had this metadata already: those that a page before has changed may be met again. */
  readonly unchanged: number;
  /** The memories that stay as they were, and why: their metadata would be over a limit. Of ids also those that no memory has, and those that another memory superseded. */
  readonly failed: readonly UpdateFailure[];
  /** Empty if nothing is left. Otherwise the filter matches more, time ran out, or the key's rate did: send the same request with it. */
  readonly nextPageToken: string;
  /** Some of the memories that the filter matches, the oldest, up to 20, with the metadata that they would get. Only of a dry run. */
  readonly samples: readonly Memory[];
  /** How many memories the filter matches. Only of a dry run. */
  readonly matched?: number;
  /** The namespace, as it was given. */
  readonly namespace: string;
}

/** A memory that was not updated. */
export interface UpdateFailure {
  /** The memory's id. */
  readonly id: string;
  /** Why. */
  readonly error: Problem;
}

export interface DeleteNamespaceRequest {
  /** The namespace to drop. */
  readonly namespace: string;
  /** Drop it although it holds memories. */
  readonly force?: boolean | undefined;
}

export interface DeleteNamespaceResponse {
  /** How many memories it held. */
  readonly deleted: number;
}

export interface DeleteNamespacesRequest {
  /** What the names of the namespaces begin with, 1 to 256 bytes. They are dropped although they hold memories. */
  readonly prefix: string;
  /** Drop nothing, and tell what would be dropped. */
  readonly dryRun?: boolean | undefined;
}

export interface DeleteNamespacesResponse {
  /** How many namespaces were dropped. */
  readonly deleted: number;
  /** Whether others are left: send the same request again. */
  readonly more: boolean;
  /** The names of those that were dropped or, of a dry run, of those that the next call would drop, in the order of their bytes. */
  readonly namespaces: readonly string[];
  /** How many memories these held, also superseded ones. */
  readonly memories: number;
  /** How many namespaces begin with the prefix; only of a dry run. */
  readonly matched?: number;
}

export interface ListNamespacesRequest {
  /** How many to return at most: 1 to 100, 50 when left out. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the page before; left out for the first. */
  readonly pageToken?: string | undefined;
  /** What the names of the namespaces begin with, up to 256 bytes; all of them when left out. The pages of one list have the same prefix. */
  readonly prefix?: string | undefined;
}

export interface ListNamespacesResponse {
  /** In the order of their names' bytes. */
  readonly namespaces: readonly Namespace[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** A namespace and what it holds. */
export interface Namespace {
  readonly namespace: string;
  /** How many memories it holds, also superseded ones. */
  readonly memories: number;
  /** Bytes of their texts and metadata together. */
  readonly bytes: number;
}

export interface GetNamespaceRequest {
  /** The namespace to describe. */
  readonly namespace: string;
}

export interface GetNamespaceResponse {
  readonly namespace: Namespace;
  /** When the oldest memory that ListMemories shows was stored, or changed last. Absent if there is none, and if more than 10,240 deleted or hidden ones stand before it. */
  readonly first?: string;
  /** When the newest memory that ListMemories shows was stored, or changed last. Absent if there is none, and if more than 10,240 deletions or hidden ones come after it. */
  readonly last?: string;
}

export interface ListMemoriesRequest {
  /** The namespace to list. */
  readonly namespace: string;
  /** How many to return at most: 1 to 100, 50 when left out. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the page before; left out for the first. */
  readonly pageToken?: string | undefined;
  /** Which memories to list: a filter in the language that docs/filters.md describes; all when left out or empty. The pages of one list have the same filter. */
  readonly filter?: Metadata | undefined;
  /** What the memories are ordered by. The pages of one list have the same order. */
  readonly order?: Order | undefined;
  /** Whether memories that others superseded are listed, too. */
  readonly includeSuperseded?: boolean | undefined;
}

/**
 * The order of a list.
 *
 * - `NEWEST_FIRST`: The newest first.
 * - `OLDEST_FIRST`: The oldest first.
 * - `EVENT_TIME_NEWEST_FIRST`: What happened last first, by `$event_time`; of equal times, what was stored last.
 * - `EVENT_TIME_OLDEST_FIRST`: What happened first first; of equal times, what was stored first.
 */
export type Order = "NEWEST_FIRST" | "OLDEST_FIRST" | "EVENT_TIME_NEWEST_FIRST" | "EVENT_TIME_OLDEST_FIRST";

export interface ListMemoriesResponse {
  /** In the order that the request asks for. */
  readonly memories: readonly Memory[];
  /** The namespace, as it was given. */
  readonly namespace: string;
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

export interface CountMemoriesRequest {
  /** The namespace to count in. */
  readonly namespace: string;
  /** Which memories to count: a filter in the language that docs/filters.md describes; all when left out or empty. */
  readonly filter?: Metadata | undefined;
  /** Whether memories that others superseded count, too. */
  readonly includeSuperseded?: boolean | undefined;
}

export interface CountMemoriesResponse {
  /** How many memories the namespace holds, or how many match the filter; 0 if nobody stored to it. */
  readonly memories: number;
  /** The namespace, as it was given. */
  readonly namespace: string;
}

export interface WatchNamespaceRequest {
  /** The namespace to watch. */
  readonly namespace: string;
  /** Where to begin: `position` of the last event that was seen, or of an export. Left out, it begins now. */
  readonly position?: string | undefined;
}

export interface ExportMemoriesRequest {
  /** The namespace to export. */
  readonly namespace: string;
  /** Whether each memory has its vectors. */
  readonly includeVectors?: boolean | undefined;
  /** Which memories to export: a filter in the language that docs/filters.md describes; all when left out or empty. */
  readonly filter?: Metadata | undefined;
}

export interface SignUpRequest {
  /** Shown to the account's owner only; never verified, never written to. At most 254 bytes. May be left out. */
  readonly email?: string | undefined;
}

export interface SignUpResponse {
  /** The account's id: `acc_` and 26 characters. */
  readonly accountId: string;
  /** The key, `rcl_…`. Keep it now: it cannot be shown again. */
  readonly apiKey: string;
  /** The plan, `free`. */
  readonly plan: string;
  /** Successful Store and Recall calls that the plan allows in the account's lifetime; 2147483647 when it has no limit. */
  readonly callsLimit: number;
  /** How many of them are used. */
  readonly callsUsed: number;
}

export interface GetAccountRequest {
}

export interface GetAccountResponse {
  readonly accountId: string;
  /** Empty when none was given. */
  readonly email: string;
  readonly plan: string;
  /** Successful Store and Recall calls that the plan allows in the account's lifetime; 2147483647 when it has no limit. */
  readonly callsLimit: number;
  /** How many of them are used. */
  readonly callsUsed: number;
  readonly createdAt: string;
  /** The key of this very call. Any key may read here what it may do, also one that may not list keys. */
  readonly key: Key;
  /** The model that reads what is stored and asked. */
  readonly model: Model;
}

/** A key without its secret. */
export interface Key {
  /** The key's id, `key_` and 26 characters; not a secret. */
  readonly id: string;
  readonly name: string;
  /** The key's first 8 characters. */
  readonly prefix: string;
  readonly access: KeyAccess;
  /** The only namespace it may touch; empty is all. */
  readonly namespace: string;
  readonly createdAt: string;
  /** About when it was last used, to the minute; absent when never. */
  readonly lastUsedAt?: string;
  /** When it stops working; absent when never. */
  readonly expiresAt?: string;
  /** The id of the key that this one replaces once it is first used; empty when none, or when that has happened. */
  readonly replaces: string;
  /** Whether this is the key of this very call. */
  readonly current: boolean;
  /** The browsers that are signed in to the portal with it, the oldest first; at most 20. */
  readonly sessions: readonly Session[];
  /** The application that got the key by OAuth: a host, or an application's own scheme. Empty for a key that a person has made. */
  readonly client: string;
}

/**
 * What a key may do.
 *
 * - `KEY_ACCESS_FULL`: Everything.
 * - `KEY_ACCESS_READ_ONLY`: Recall, read and list; no store, no delete, no keys.
 */
export type KeyAccess = "KEY_ACCESS_FULL" | "KEY_ACCESS_READ_ONLY";

/** A browser that is signed in to the portal with a key. It may do what the key may, and ends with it. */
export interface Session {
  /** The session's id, `ses_` and 26 characters; not a secret. */
  readonly id: string;
  readonly createdAt: string;
  /** About when it was last used, to the minute; absent when never. */
  readonly lastUsedAt?: string;
  /** When it ends. */
  readonly expiresAt: string;
  /** Whether this is the session of this very call. */
  readonly current: boolean;
}

/** An embedding model, as far as callers need to know it. */
export interface Model {
  /** Its id, as the operator names it: `bundled`, or that of its repository. */
  readonly id: string;
  /** The languages that it reads, as BCP 47 tags such as `en`; `mul` stands for many. Empty when the server does not know them. */
  readonly languages: readonly string[];
  /** The score above which a match is strong, where that was measured: models spread their scores differently, and for most of them no such score is known. It holds for texts and queries in the model's languages only. */
  readonly strongScore?: number;
}

export interface GetUsageRequest {
  /** How many days back, today included: 1 to 90, 30 when left out. */
  readonly days?: number | undefined;
}

export interface GetUsageResponse {
  /** One for each day (UTC), the oldest first, days without calls included. */
  readonly days: readonly DayUsage[];
  /** What the account's keys used, over the calls that ListRecentCalls can list, those with most calls first: up to 50, and then all others together. A key for one namespace sees itself alone. */
  readonly keys: readonly KeyUsage[];
  /** What was used in the account's namespaces, in the same way. A key for one namespace sees that one alone. */
  readonly namespaces: readonly NamespaceUsage[];
  /** Since when keys and namespaces are counted: the oldest of these calls, or the time since when calls are kept. */
  readonly since: string;
}

export interface DayUsage {
  /** The day in UTC, `2026-11-21`. */
  readonly date: string;
  readonly stores: number;
  readonly recalls: number;
  /** Tokens of the stored texts and of the queries. */
  readonly tokensStored: number;
  readonly tokensQueried: number;
  /** The day's hours in UTC that have calls, in order. Only if the request asks for at most 3 days. */
  readonly hours: readonly HourUsage[];
}

/** What was used in one hour of a day. */
export interface HourUsage {
  /** The hour in UTC, 0 to 23. */
  readonly hour: number;
  readonly stores: number;
  readonly recalls: number;
  /** Tokens of the stored texts and of the queries. */
  readonly tokensStored: number;
  readonly tokensQueried: number;
}

/** What one key used. */
export interface KeyUsage {
  /** The key's id; empty for all others together, and for keys that are gone. */
  readonly keyId: string;
  readonly stores: number;
  readonly recalls: number;
  /** Tokens of the stored texts and of the queries. */
  readonly tokensStored: number;
  readonly tokensQueried: number;
}

/** What was used in one namespace. */
export interface NamespaceUsage {
  /** The namespace's name; empty for all others together. */
  readonly namespace: string;
  readonly stores: number;
  readonly recalls: number;
  /** Tokens of the stored texts and of the queries. */
  readonly tokensStored: number;
  readonly tokensQueried: number;
}

export interface ListRecentCallsRequest {
  /** How many to return at most: 1 to 100, 50 when left out. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the page before; left out for the first. */
  readonly pageToken?: string | undefined;
  /** Whether only calls that failed are listed. */
  readonly errorsOnly?: boolean | undefined;
  /** Only calls of this method: `recalld.v1.MemoryService/Recall`, or `Recall`. All when left out, as with the fields below. Those that are given must all fit a call. */
  readonly method?: string | undefined;
  /** Only calls that were made with the key of this id. */
  readonly keyId?: string | undefined;
  /** Only calls that ended so: `ok`, or the name of an error. */
  readonly code?: string | undefined;
  /** Only calls that named this namespace. */
  readonly namespace?: string | undefined;
}

export interface ListRecentCallsResponse {
  /** Those that ended last first. A page looks through at most 2,500 calls: when few of them are asked for it has fewer than `pageSize`, or none, and still a token for the next page. */
  readonly calls: readonly RecentCall[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  /** Since when calls are kept: earlier ones are not listed. */
  readonly since: string;
}

/** A call that has ended. */
export interface RecentCall {
  /** When it began. */
  readonly startTime: string;
  /** Its method, `recalld.v1.MemoryService/Recall`. */
  readonly method: string;
  /** The protocol that it came by: `connect`, `grpc`, `grpc-web`, `json` for the plain paths, or `mcp`. */
  readonly protocol: string;
  /** The id of its key; empty if that key is gone. */
  readonly keyId: string;
  /** `ok`, or the name of the error, `resource_exhausted`. */
  readonly code: string;
  /** How long the server took, in milliseconds. */
  readonly durationMs: number;
  /** The answer's `X-Request-ID`, under which the server's log has it. */
  readonly requestId: string;
  /** The namespace that it named; empty if none. */
  readonly namespace: string;
  /** The error's message, without what it repeats of the request; empty if the call succeeded, or if there is none. */
  readonly message: string;
}

export interface CreateKeyRequest {
  /** To tell keys apart: at most 64 bytes, no control characters. */
  readonly name?: string | undefined;
  /** Full when left out. In a rotation the old key's applies, and read-only is refused here: make a key without `replaces` for less than the old one may. */
  readonly access?: KeyAccess | undefined;
  /** The only namespace it may touch; left out, all. Refused in a rotation, where the old key's applies. */
  readonly namespace?: string | undefined;
  /** The id of the key to replace. */
  readonly replaces?: string | undefined;
  /** How long the replaced key works on once the new one is used: 0 to 86,400. Refused without `replaces`. */
  readonly graceSeconds?: number | undefined;
  /** A time in the future, up to the end of the year 9999; milliseconds count. */
  readonly expireTime?: string | Date | undefined;
  /** How long from now; in JSON a string like "3600s". */
  readonly ttl?: string | undefined;
}

export interface CreateKeyResponse {
  /** The key, `rcl_…`. Keep it now: it cannot be shown again. */
  readonly apiKey: string;
  readonly key: Key;
}

export interface ListKeysRequest {
}

export interface ListKeysResponse {
  /** The oldest first; an account has at most 50. */
  readonly keys: readonly Key[];
}

export interface RevokeKeyRequest {
  /** The key's id, or a session's. */
  readonly id: string;
  /** Revoke it although it is the account's last. */
  readonly force?: boolean | undefined;
}

export interface RevokeKeyResponse {
  readonly id: string;
}

export interface CloseAccountRequest {
  /** The account's id, to make sure that it is meant. */
  readonly accountId: string;
}

export interface CloseAccountResponse {
  /** How many memories were erased. */
  readonly deleted: number;
}

/** The calls that have one answer. */
export interface Methods {
  readonly Store: { readonly input: StoreRequest; readonly output: StoreResponse };
  readonly StoreBatch: { readonly input: StoreBatchRequest; readonly output: StoreBatchResponse };
  readonly Recall: { readonly input: RecallRequest; readonly output: RecallResponse };
  readonly GetMemory: { readonly input: GetMemoryRequest; readonly output: GetMemoryResponse };
  readonly GetMemories: { readonly input: GetMemoriesRequest; readonly output: GetMemoriesResponse };
  readonly UpdateMemory: { readonly input: UpdateMemoryRequest; readonly output: UpdateMemoryResponse };
  readonly DeleteMemory: { readonly input: DeleteMemoryRequest; readonly output: DeleteMemoryResponse };
  readonly DeleteMemories: { readonly input: DeleteMemoriesRequest; readonly output: DeleteMemoriesResponse };
  readonly UpdateMemories: { readonly input: UpdateMemoriesRequest; readonly output: UpdateMemoriesResponse };
  readonly DeleteNamespace: { readonly input: DeleteNamespaceRequest; readonly output: DeleteNamespaceResponse };
  readonly DeleteNamespaces: { readonly input: DeleteNamespacesRequest; readonly output: DeleteNamespacesResponse };
  readonly ListNamespaces: { readonly input: ListNamespacesRequest; readonly output: ListNamespacesResponse };
  readonly GetNamespace: { readonly input: GetNamespaceRequest; readonly output: GetNamespaceResponse };
  readonly ListMemories: { readonly input: ListMemoriesRequest; readonly output: ListMemoriesResponse };
  readonly CountMemories: { readonly input: CountMemoriesRequest; readonly output: CountMemoriesResponse };
  readonly SignUp: { readonly input: SignUpRequest; readonly output: SignUpResponse };
  readonly GetAccount: { readonly input: GetAccountRequest; readonly output: GetAccountResponse };
  readonly GetUsage: { readonly input: GetUsageRequest; readonly output: GetUsageResponse };
  readonly ListRecentCalls: { readonly input: ListRecentCallsRequest; readonly output: ListRecentCallsResponse };
  readonly CreateKey: { readonly input: CreateKeyRequest; readonly output: CreateKeyResponse };
  readonly ListKeys: { readonly input: ListKeysRequest; readonly output: ListKeysResponse };
  readonly RevokeKey: { readonly input: RevokeKeyRequest; readonly output: RevokeKeyResponse };
  readonly CloseAccount: { readonly input: CloseAccountRequest; readonly output: CloseAccountResponse };
}

/** Where each call is served, below the server's address. */
export const PATHS: Readonly<Record<keyof Methods, string>> = {
  Store: "/recalld.v1.MemoryService/Store",
  StoreBatch: "/recalld.v1.MemoryService/StoreBatch",
  Recall: "/recalld.v1.MemoryService/Recall",
  GetMemory: "/recalld.v1.MemoryService/GetMemory",
  GetMemories: "/recalld.v1.MemoryService/GetMemories",
  UpdateMemory: "/recalld.v1.MemoryService/UpdateMemory",
  DeleteMemory: "/recalld.v1.MemoryService/DeleteMemory",
  DeleteMemories: "/recalld.v1.MemoryService/DeleteMemories",
  UpdateMemories: "/recalld.v1.MemoryService/UpdateMemories",
  DeleteNamespace: "/recalld.v1.MemoryService/DeleteNamespace",
  DeleteNamespaces: "/recalld.v1.MemoryService/DeleteNamespaces",
  ListNamespaces: "/recalld.v1.MemoryService/ListNamespaces",
  GetNamespace: "/recalld.v1.MemoryService/GetNamespace",
  ListMemories: "/recalld.v1.MemoryService/ListMemories",
  CountMemories: "/recalld.v1.MemoryService/CountMemories",
  SignUp: "/recalld.v1.AccountService/SignUp",
  GetAccount: "/recalld.v1.AccountService/GetAccount",
  GetUsage: "/recalld.v1.AccountService/GetUsage",
  ListRecentCalls: "/recalld.v1.AccountService/ListRecentCalls",
  CreateKey: "/recalld.v1.AccountService/CreateKey",
  ListKeys: "/recalld.v1.AccountService/ListKeys",
  RevokeKey: "/recalld.v1.AccountService/RevokeKey",
  CloseAccount: "/recalld.v1.AccountService/CloseAccount",
};

/** Calls that change something. Each has a key, so that no retry does it twice. */
export const WRITES: readonly string[] = ["Store", "StoreBatch", "UpdateMemory", "UpdateMemories", "DeleteMemory", "DeleteMemories", "DeleteNamespace", "DeleteNamespaces"];

/** Calls that change an account. They take no key, so an attempt whose answer is lost may have done it. */
export const ONCE: readonly string[] = ["SignUp", "CreateKey", "RevokeKey", "CloseAccount"];

/** Closed list of what can go wrong: that of the Connect protocol. docs/errors.md says what each means. */
export const ERROR_CODES = [
  "canceled",
  "unknown",
  "invalid_argument",
  "deadline_exceeded",
  "not_found",
  "already_exists",
  "permission_denied",
  "resource_exhausted",
  "failed_precondition",
  "aborted",
  "out_of_range",
  "unimplemented",
  "internal",
  "unavailable",
  "data_loss",
  "unauthenticated",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Constants that programs can branch on. Servers may know further ones. */
export type Reason =
  /** All calls of the account's plan are used. */
  | "QUOTA_EXHAUSTED"
  /** The body is over 1,048,576 bytes (StoreBatch: 8,388,608), as sent or after decompressing. */
  | "BODY_TOO_LARGE"
  /** Too many sign-ups, unknown keys or requests without a key come from this address, or too many sign-ups in all. */
  | "RATE_LIMITED"
  /** The key, or all keys of its account together, make more calls a second than the plan allows. */
  | "KEY_RATE_LIMITED"
  /** The key, its account or the server has as many running calls as it may. */
  | "CONCURRENCY_LIMITED"
  /** Requests and answers in memory, the caller's or everyone's, fill what is reserved for them. */
  | "BODIES_LIMITED"
  /** The operator removed the account's plan and must assign another. */
  | "PLAN_UNKNOWN"
  /** The key may only read. */
  | "KEY_READ_ONLY"
  /** The key is for another namespace, or the call is about the account. */
  | "KEY_OTHER_NAMESPACE"
  /** An application got the key by OAuth, and the call is about the account. */
  | "KEY_OF_CLIENT"
  /** The namespace holds memories, and `force` is not set. */
  | "NAMESPACE_NOT_EMPTY"
  /** It is the account's last key, and `force` is not set. */
  | "LAST_KEY"
  /** The account has 50 keys. */
  | "KEYS_LIMIT"
  /** The text or the metadata has what looks like a secret, and `onSecret` is REFUSE; `metadata.secrets` tells kinds and places. */
  | "SECRET_FOUND"
  /** Another memory of the namespace has the `externalId`; `metadata.id` names it. */
  | "EXTERNAL_ID_TAKEN"
  /** The memory was superseded by another one, `metadata.superseded_by`, and cannot be changed any more. */
  | "MEMORY_SUPERSEDED"
  /** The memory was changed since its etag was read; `metadata.etag` is the current one. */
  | "ETAG_MISMATCH"
  /** The `Idempotency-Key` was used for another request within 24 hours. */
  | "IDEMPOTENCY_KEY_REUSED"
  /** The memory that this `Idempotency-Key` stored was deleted. */
  | "IDEMPOTENT_MEMORY_DELETED"
  /** The database cannot write; its disk may be full. */
  | "STORAGE_NOT_WRITABLE"
  /** The model has too much work to finish before the call's deadline. */
  | "MODEL_BUSY"
  /** The account or the server has as many open watches or exports as it may. */
  | "STREAMS_LIMITED"
  /** The position is of another namespace, or of one that was dropped since. */
  | "POSITION_GONE"
  /** The namespace's index alone is larger than `INDEX_MEMORY_BYTES_MAX`: delete memories, or ask the operator to raise it. */
  | "INDEX_TOO_LARGE"
  /** The account broke off too many calls while the model read their texts. */
  | "ABANDONED_WORK";

/** Fields that JSON gives as strings and the client as numbers. */
export const LONG_FIELDS: readonly string[] = ["bytes"];

/** The field that every answer of a call has, and what it is. */
export const FIRST_FIELDS: Readonly<Record<keyof Methods, readonly [field: string, kind: "string" | "number" | "list" | "object"]>> = {
  Store: ["id", "string"],
  StoreBatch: ["results", "list"],
  Recall: ["results", "list"],
  GetMemory: ["memory", "object"],
  GetMemories: ["memories", "list"],
  UpdateMemory: ["memory", "object"],
  DeleteMemory: ["id", "string"],
  DeleteMemories: ["deleted", "number"],
  UpdateMemories: ["updated", "number"],
  DeleteNamespace: ["deleted", "number"],
  DeleteNamespaces: ["deleted", "number"],
  ListNamespaces: ["namespaces", "list"],
  GetNamespace: ["namespace", "object"],
  ListMemories: ["memories", "list"],
  CountMemories: ["memories", "number"],
  SignUp: ["accountId", "string"],
  GetAccount: ["accountId", "string"],
  GetUsage: ["days", "list"],
  ListRecentCalls: ["calls", "list"],
  CreateKey: ["apiKey", "string"],
  ListKeys: ["keys", "list"],
  RevokeKey: ["id", "string"],
  CloseAccount: ["deleted", "number"],
};
