import { mapConcurrently } from "../../concurrency/map-concurrently.js";
import { byteLengthOf } from "../ports/bounds.js";
import { narrowed } from "../ports/condition.js";
import type { Embedding, Window } from "../ports/embedder.js";
import type { Projected } from "../ports/log.js";
import { type ModelVersion, memoizeByModelVersion, modelVersionOf } from "../ports/model-version.js";
import type { Scope } from "../ports/names.js";
import { type CallStep, NO_TIMINGS, type StepTimer } from "../ports/step-timer.js";
import { vectorsOf, wholeOf } from "../ports/windows.js";
import { authorize } from "../requests/authorize.js";
import { parseFilter } from "../requests/filter.js";
import { type JsonObject, METADATA_BYTES_MAX } from "../requests/metadata.js";
import { scopesOf } from "../requests/namespace.js";
import {
  parseFields,
  parseLowestScore,
  parseMaxTokens,
  parseMinFit,
  parseRecency,
  parseTopK,
  type RecencyRequest,
  TOP_K_MAX,
} from "../requests/recall-options.js";
import { TEXT_BYTES_MAX } from "../requests/text.js";
import { byCreation, type RankedMemory, RECENCY_CANDIDATES } from "../search/rank.js";
import type { VisibleMemory } from "../versions/fetch.js";
import type { PaidRequest, Ports, RecallMode } from "./ports.js";
import { findNeighbors, type NeighborsFields, parseNeighbors, ValuesAt } from "./recall/neighbors.js";
import { excluding, findLike, parseQuestion, type QuestionFields } from "./recall/question.js";
import { withinQuota } from "./within-quota.js";

/** Maximum number of memories that searches of several namespaces find at a time: each may have a long text. */
const FOUND_AT_ONCE = 80;
/** Bytes of the texts and metadata of an answer. So many plain results fit, however long they are. */
export const RECALL_BYTES_MAX = TOP_K_MAX * (TEXT_BYTES_MAX + METADATA_BYTES_MAX);
/** Results whose neighbors are looked for at a time. */
const RESULTS_AT_ONCE = 4;

/** A recall as the contract has it; times are milliseconds since 1970. */
export interface RecallRequest extends PaidRequest, QuestionFields {
  readonly topK?: number | undefined;
  /** The one that the service is set to if left out. */
  readonly mode?: RecallMode | undefined;
  readonly filter?: JsonObject | undefined;
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly explain?: boolean | undefined;
  readonly minScore?: number | undefined;
  readonly minFit?: number | undefined;
  readonly recency?: RecencyRequest | undefined;
  readonly includeSuperseded?: boolean | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly maxTokens?: number | undefined;
  readonly alsoIn?: readonly string[] | undefined;
  readonly neighbors?: NeighborsFields | undefined;
}

/**
 * Finds the memories of one namespace nearest in meaning to the query, or best by meaning and words, best first.
 * Charging, embedding, catching up with the log and looking for words run beside each other. The answer has the fields
 * to answer with as well; all are meant if they are undefined.
 *
 * @throws MemoryError `invalid_argument`, `unauthenticated`, `resource_exhausted` or `unavailable`; `not_found`
 * if there is no memory `likeId`.
 */
export async function recall(ports: Ports, request: RecallRequest) {
  const { caller, timer = NO_TIMINGS } = request;
  const asked = parse(ports, request);
  const { texts, scopes, likeId } = asked;
  // All of them before anything else: what the caller may not read leaves no trace.
  for (const { namespace } of scopes) {
    await authorize(ports.quota, caller, { writes: false, namespace });
  }

  const calls = Math.max(1, texts.length);
  return withinQuota(ports, request, { calls }, async ({ paid, signal }) => {
    const [{ namespace }] = scopes;
    const like = likeId === undefined ? undefined : await findLike(ports, scopes[0], likeId);
    const embed = (modelVersion: ModelVersion, text: string) =>
      timer.time("embed", () => {
        const { accountId: owner } = caller;
        const { deadlineMs } = request;
        const input = { text, field: "query", owner, deadlineMs, signal } as const;
        return ports.modelVersions.embed(modelVersion, input);
      });
    const queriesIn = memoizeByModelVersion((modelVersion): Query[] => {
      const queryTexts = like === undefined ? texts : [like.text];
      return queryTexts.map((text) => {
        const isStored = modelVersion === like?.modelVersion;
        const embedding = isStored ? Promise.resolve(like.embedding) : embed(modelVersion, text);
        // Awaited after the log was read: if that has moved, the model is needed no more, and its failure does not count.
        embedding.catch(() => {});
        return { text, embedding };
      });
    });
    const { found, logs } = await searchAll(ports, { asked, timer, queriesIn, paid, signal });
    const queries = logs[0]?.queries ?? queriesIn(ports.modelVersions.newest);
    const embedded = await Promise.all(queries.map(({ embedding }) => embedding));
    await paid;
    const { fitting, omitted } = divideByFit(found, asked);
    const filled = await fill(ports, fitting, { asked, logs, signal });
    const tokens = embedded.map((each) => each.tokens);
    const queryTokens = tokens.reduce((sum, each) => sum + each, 0);
    const considered = fitting.length > 0 ? undefined : consideredIn(logs, asked);
    // An aborted call costs nothing, so it is not counted. Nothing is awaited from here on.
    signal.throwIfAborted();
    for (const each of tokens) ports.quota.count(caller, { namespace, call: "recall", tokens: each });
    return { queryTokens, fields: asked.fields, omitted, considered, ...filled };
  });
}

type Asked = ReturnType<typeof parse>;

export interface Found extends Pick<RankedMemory, "sequence" | "entry" | "score" | "rank"> {
  /** The part of the text that has this score. */
  readonly match: Window;
  /** Id of the memory that superseded it. */
  readonly supersededBy?: string | undefined;
  /** Share of the query's words that the text has, 0 to 1; undefined in an order by meaning alone. */
  readonly words?: number | undefined;
  /** Reasons for its place, as the contract has them. */
  readonly explanation?:
    | (Pick<RankedMemory, "rank" | "matched" | "recency"> & {
        readonly weight: number;
        readonly fit?: number | undefined;
      })
    | undefined;
  /** Index of the query that it fits best, in a recall of a list of queries. */
  readonly queryIndex?: number | undefined;
  /** Its namespace, in a recall of several. */
  readonly namespace?: string | undefined;
  /** Memories created just before and after it, each the oldest first; undefined if none were asked for. */
  readonly before?: readonly VisibleMemory[] | undefined;
  readonly after?: readonly VisibleMemory[] | undefined;
}

/** Parses all of a recall before anything is charged or read. */
function parse(ports: Ports, request: RecallRequest) {
  const { texts, isList, likeId } = parseQuestion(request);
  const scopes = scopesOf(request, request.alsoIn);
  const topK = parseTopK(request.topK, ports.topKMax);
  const maxTokens = parseMaxTokens(request.maxTokens);
  const { mode = ports.recallMode ?? "cosine", explain = false, includeSuperseded = false } = request;
  const minScore = parseLowestScore("min_score", request.minScore);
  const minFit = parseMinFit(request.minFit, mode);
  const recency = parseRecency(request.recency, ports.clock.wallMs());
  const fields = parseFields(request.fields);
  const neighbors = parseNeighbors(request.neighbors);
  const given = narrowed(parseFilter(request.filter)?.condition, request);
  const condition = likeId === undefined ? given : excluding(given, likeId);
  /** True if memories of the namespaces may be left out of the answer. */
  const isNarrowed = [given, minScore, minFit].some((each) => each !== undefined);
  const question = { texts, isList, likeId, scopes, condition, isNarrowed, mode, recency, includeSuperseded };
  return { topK, minScore, minFit, maxTokens, fields, neighbors, explain, ...question };
}

/** A query, by the model of some logs. */
interface Query {
  readonly text: string;
  readonly embedding: Promise<Embedding>;
}

/** The part of a recall that is the same for each of its namespaces. */
interface RecallContext {
  readonly asked: Asked;
  readonly timer: StepTimer<CallStep>;
  readonly queriesIn: (modelVersion: ModelVersion) => readonly Query[];
  readonly paid: Promise<void>;
  readonly signal: AbortSignal;
}

/** A log that was searched. */
interface SearchedLog {
  readonly namespace: string;
  readonly logId: string;
  /** Number of memories that it may show. */
  readonly size: number;
  readonly queries: readonly Query[];
}

/** Finds the best of some namespaces, best first, and the logs of those that exist, in the order of the namespaces. */
async function searchAll(
  ports: Ports,
  context: RecallContext,
): Promise<{ found: readonly Found[]; logs: readonly SearchedLog[] }> {
  const { scopes, topK } = context.asked;
  let found: readonly Found[] = [];
  const concurrency = Math.max(1, Math.floor(FOUND_AT_ONCE / topK));
  const logs = await mapConcurrently(scopes, concurrency, async (scope) => {
    const searched = await searchIn(ports, scope, context);
    if (searched === undefined) return [];
    const { namespace } = scope;
    const own = scopes.length === 1 ? searched.found : searched.found.map((each) => ({ ...each, namespace }));
    found = bestOf([...found, ...own], topK);
    return [searched.log];
  });
  return { found, logs: logs.flat() };
}

/** Searches a namespace for each of the queries; undefined if it does not exist. */
function searchIn(
  ports: Ports,
  scope: Scope,
  { asked, timer, queriesIn, paid, signal }: RecallContext,
): Promise<{ found: readonly Found[]; log: SearchedLog } | undefined> {
  const { topK, mode, explain, minScore, recency, includeSuperseded, condition, isList } = asked;
  return ports.namespaces.using(scope, async ({ replica }) => {
    // Queries are embedded by the model of the log that is searched, so two models never meet.
    const queries = queriesIn(modelVersionOf(replica.logId));
    const current = timer.time("catch_up", () => replica.current());
    await Promise.all([current, paid]);
    const options = { includeSuperseded, signal, timer };
    const { found, size } = await replica.searching(async (search) => {
      if (condition !== undefined) await search.select({ condition });
      const found: Found[][] = [];
      for (const { text, embedding } of queries) {
        const matchesMax = recency === undefined ? topK : RECENCY_CANDIDATES;
        const wordMatches = mode === "hybrid" ? search.matchWords(text, matchesMax) : undefined;
        // Awaited in `best`, after the embedding, whose failure is reported first.
        wordMatches?.catch(() => {});
        const vectors = vectorsOf(await embedding);
        const query = { vectors, wanted: topK, minScore, recency, wordMatches };
        const { weight, ranked } = await search.best(query);
        found.push(ranked.map((each) => foundOf(each, { weight, explain, isByWords: mode === "hybrid" })));
      }
      const size = await search.size();
      const all = isList
        ? found.flatMap((some, queryIndex) => some.map((each) => ({ ...each, queryIndex })))
        : found.flat();
      const best = bestOf(all, topK);
      return { found: includeSuperseded ? await search.withSupersededBy(best) : best, size };
    }, options);
    return { found, log: { namespace: scope.namespace, logId: replica.logId, size, queries } };
  });
}

/**
 * Counts the memories that an empty answer has left out; undefined if none were. Of a namespace that does not exist
 * it is 0, so that a typo is noticed.
 */
function consideredIn(logs: readonly SearchedLog[], { isNarrowed }: Asked): number | undefined {
  if (logs.length === 0) return 0;
  const considered = logs.reduce((sum, { size }) => sum + size, 0);
  return isNarrowed && considered > 0 ? considered : undefined;
}

function foundOf(
  { sequence, entry, score, part, rank, share, matched, recency }: RankedMemory,
  { weight, explain, isByWords }: { weight: number; explain: boolean; isByWords: boolean },
): Found {
  const words = isByWords ? share : undefined;
  const fit = isByWords ? fitOf({ score, words }) : undefined;
  const explanation = explain ? { rank, weight, matched, fit, recency } : undefined;
  return { sequence, entry, score, match: part ?? wholeOf(entry), rank, words, explanation };
}

/**
 * Fit of a memory to a query by itself, 0 to 1.5. Unlike the rank it does not depend on the other
 * memories, so one floor serves all namespaces.
 */
export function fitOf({ score, words = 0 }: Pick<Found, "score" | "words">): number {
  return score + words / 2;
}

/** Divides results into those that fit well enough and, if reasons were asked for, those that are omitted, best first. */
function divideByFit(results: readonly Found[], { minFit, explain }: Asked) {
  if (minFit === undefined) return { fitting: results, omitted: undefined };
  const fits = (each: Found) => fitOf(each) >= minFit;
  const omitted = results
    .filter((each) => !fits(each))
    .map(({ entry, score, words = 0 }) => ({ id: entry.id, score, words, fit: fitOf({ score, words }) }));
  return { fitting: results.filter(fits), omitted: explain ? omitted : undefined };
}

/** Merges what several searches found into the `limit` best, best first; of equals, the older comes first. */
function bestOf(found: readonly Found[], limit: number): Found[] {
  const best = new Map<string, Found>();
  for (const each of found.toSorted((a, b) => b.rank - a.rank || byCreation(a.entry, b.entry))) {
    // Two queries may find the same memory: the better place counts.
    if (!best.has(each.entry.id)) best.set(each.entry.id, each);
  }
  return [...best.values()].slice(0, limit);
}

/**
 * Fills an answer with results, best first, each followed by its neighbors, the nearest first. It ends before the
 * first text that it has no budget for.
 */
async function fill(
  ports: Ports,
  results: readonly Found[],
  {
    asked,
    logs,
    signal,
  }: Pick<RecallContext, "asked" | "signal"> & { readonly logs: readonly SearchedLog[] },
): Promise<{ results: readonly Found[]; shortened?: true }> {
  const { maxTokens = Number.POSITIVE_INFINITY, neighbors, includeSuperseded } = asked;
  let [tokens, bytes] = [0, 0];
  /** True once a memory did not fit: the answer ends before it, even if a later one is shorter. */
  let isFull = false as boolean;
  /** Takes a memory in; true if it fits. The first one always does. */
  const take = (memory: Projected["text"]) => {
    if (isFull) return false;
    const isFirst = bytes === 0;
    tokens += memory.tokens;
    bytes += byteLengthOf(memory);
    isFull = !isFirst && (tokens > maxTokens || bytes > RECALL_BYTES_MAX);
    return !isFull;
  };
  const logOf = ({ namespace }: Found) =>
    logs.find((log) => namespace === undefined || log.namespace === namespace)?.logId as string;
  const filled: Found[] = [];
  const values = new ValuesAt(neighbors?.same);
  const concurrency = neighbors === undefined ? results.length : RESULTS_AT_ONCE;
  for (let at = 0; at < results.length && !isFull; at += concurrency) {
    signal.throwIfAborted();
    const some = results.slice(at, at + concurrency);
    const beside =
      neighbors &&
      (await mapConcurrently(some, RESULTS_AT_ONCE, (found) =>
        findNeighbors({ ...ports, logId: logOf(found), includeSuperseded, values }, found, neighbors),
      ));
    for (const [i, found] of some.entries()) {
      if (!take(found.entry)) break;
      // Copied only where it must be: most recalls ask for no neighbors, and copies of their results take long.
      if (neighbors === undefined) {
        filled.push(found);
        continue;
      }
      const { before = [], after = [] } = beside?.[i] ?? {};
      const included = new Set(nearestFirst(before, after).filter((each) => take(each)));
      filled.push({
        ...found,
        ...(neighbors.before > 0 && { before: before.filter((each) => included.has(each)) }),
        ...(neighbors.after > 0 && { after: after.filter((each) => included.has(each)) }),
      });
    }
  }
  return { results: filled, ...(isFull && { shortened: true }) };
}

function nearestFirst(before: readonly VisibleMemory[], after: readonly VisibleMemory[]): VisibleMemory[] {
  const length = Math.max(before.length, after.length);
  const pairs = Array.from({ length }, (_, i) => [before.at(-1 - i), after[i]]);
  return pairs.flat().filter((each) => each !== undefined);
}
