import { parseFilter } from "../filter/parse.js";
import { authorize } from "../input/authorize.js";
import { parseFields, type ResultField } from "../input/fields.js";
import { parseMinFit, parseMinScore } from "../input/floors.js";
import type { JsonObject } from "../input/json-object.js";
import { parseMaxTokens } from "../input/max-tokens.js";
import { scopeOf } from "../input/namespace.js";
import { parseText } from "../input/text.js";
import { parseTopK, TOP_K_MAX } from "../input/top-k.js";
import { countShown } from "../log/counting.js";
import { narrowed } from "../ports/condition.js";
import type { Embedding } from "../ports/embedder.js";
import { type Generation, generationOf } from "../ports/generation.js";
import type { Log } from "../ports/log.js";
import { untimed } from "../ports/steps.js";
import { vectorsOf } from "../ports/windows.js";
import { type Ranked, rank } from "../search/score.js";
import type { PlacedOptions, Search } from "../search/search.js";
import { shownOf } from "../versions/showing.js";
import type { PaidRequest, Ports, RecallMode } from "./ports.js";
import { Room } from "./recall/room.js";
import { withinQuota } from "./within-quota.js";

/** A memory that was left out of an answer because it fits the query too little. */
interface Omitted {
  readonly id: string;
  readonly score: number;
  readonly words: number;
  readonly fit: number;
}

interface Candidate {
  readonly entry: { readonly id: string };
  readonly score: number;
  /** Share of the query's words; undefined in an order by meaning alone. */
  readonly words?: number | undefined;
}

/** Candidates beyond `top_k`, so that the index's rounding does not decide the last result. */
export const SPARE_CANDIDATES = 8;

export interface RecallRequest extends PaidRequest {
  readonly query: string;
  readonly topK?: number | undefined;
  /** Order of the results; the one that the service is set to if left out. */
  readonly mode?: RecallMode | undefined;
  /** Filter of the memories that may be found; see docs/filters.md. */
  readonly filter?: JsonObject | undefined;
  /** Instants that the memories must be stored after and before, in milliseconds since 1970. */
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  /** True if each result must say why it stands where it does. */
  readonly explain?: boolean | undefined;
  /** Lowest cosine that a result may have. */
  readonly minScore?: number | undefined;
  /** Lowest fit that a result may have; only in the mode `hybrid`. */
  readonly minFit?: number | undefined;
  /** True if memories that others superseded are wanted, too. */
  readonly includeSuperseded?: boolean | undefined;
  /** Names of the fields that results are answered with; all if left out. */
  readonly fields?: readonly string[] | undefined;
  /** Tokens that the texts of the results may have together. */
  readonly maxTokens?: number | undefined;
}

export interface Found extends Ranked {
  /** Id of the memory that superseded it. */
  readonly supersededBy?: string | undefined;
  /** Share of the query's words that the text has, 0 to 1; undefined in an order by meaning alone. */
  readonly words?: number | undefined;
  readonly explanation?: Explanation | undefined;
}

/** Reasons for a result's place. */
interface Explanation {
  /** Number that results are ordered by, the highest first. */
  readonly rank: number;
  /** Weight of words in this recall, 0 to 1. */
  readonly weight: number;
  /** Words of the query that the text has, in lower case. */
  readonly matched: readonly string[];
  /** Number that says how well the memory fits the query by itself; undefined in an order by meaning alone. */
  readonly fit?: number | undefined;
}

export interface Recalled {
  /** Best first. */
  readonly results: readonly Found[];
  /** Tokens of the whole query, special tokens not counted. */
  readonly queryTokens: number;
  /** Fields of the results to answer with; all if undefined. */
  readonly fields?: ReadonlySet<ResultField> | undefined;
  /** Number of memories in the namespace; only if a floor or a filter has left all of them out, or none exists. */
  readonly considered?: number | undefined;
  /** Memories that `minFit` has left out, best first; only if reasons were asked for. */
  readonly omitted?: readonly Omitted[] | undefined;
  /** True if the answer has no room for all that was found. */
  readonly shortened?: boolean | undefined;
}

type RecallPorts = Ports & { readonly log: Log };

/**
 * Finds the memories of one namespace nearest in meaning to the query, or best by meaning and words. Charging,
 * embedding, catching up with the log and looking for words run beside each other.
 *
 * @throws MemoryError `invalid_argument`, `unauthenticated`, `resource_exhausted` or `unavailable`.
 */
export async function recall(ports: RecallPorts, request: RecallRequest): Promise<Recalled> {
  const { caller, steps = untimed } = request;
  const text = parseText("query", request.query);
  const scope = scopeOf(request);
  const topK = parseTopK(request.topK, ports.topKMax);
  const maxTokens = parseMaxTokens(request.maxTokens);
  const { mode = ports.recallMode ?? "cosine", explain = false, includeSuperseded } = request;
  const minScore = parseMinScore(request.minScore);
  const minFit = parseMinFit(request.minFit, mode);
  const fields = parseFields(request.fields);
  const filter = narrowed(parseFilter(request.filter), request);
  await authorize(ports.quota, caller, { writes: false, namespace: scope.namespace });

  const charging = { quota: ports.quota, caller, steps, signal: request.signal };
  return withinQuota(charging, async ({ paid, signal }) => {
    const embed = (generation: Generation) =>
      steps.time("embed", (onBegin) => {
        const asked = { owner: caller.accountId, deadlineMs: request.deadlineMs };
        return ports.generations.embed(generation, { ...asked, text, field: "query", signal, onBegin });
      });
    const found = await ports.namespaces.reading(scope, async ({ replica }) => {
      // The query is embedded by the model of the log that is searched, so two models never meet.
      const embedding = embed(generationOf(replica.logId));
      const current = steps.time("catch_up", () => replica.current());
      // The log's end decides first: a log that has moved does not need its model any more.
      embedding.catch(() => {});
      await Promise.all([current, paid]);
      const ordered = await replica.searching(async (search) => {
        const among = filter && (await search.select(filter, { includeSuperseded, signal, steps }));
        const asked = { among, includeSuperseded, steps };
        const hearing = mode === "hybrid" ? search.hear({ ...asked, text, wanted: topK }) : undefined;
        hearing?.catch(() => {});
        const query = {
          ...asked,
          vectors: vectorsOf(await embedding),
          wanted: topK,
          explain,
          minScore,
          signal,
        };
        return hearing ? byBoth(search, { ...query, hearing }) : byMeaning(search, query);
      });
      const embedded = await embedding;
      const { results, omitted } = fitting(ordered, { minFit, explain });
      const marked = includeSuperseded ? await withSuccessors(ports, replica.logId, results) : results;
      const isBounded = maxTokens !== undefined || topK > TOP_K_MAX;
      const room = isBounded ? withRoom(marked, maxTokens) : { results: marked };
      const answer = { ...room, queryTokens: embedded.tokens, fields, omitted };
      const isNarrowed = [filter, minScore, minFit].some((each) => each !== undefined);
      if (results.length > 0 || !isNarrowed || replica.size === 0) return answer;
      const considered = await countShown(ports, { logId: replica.logId, includeSuperseded, signal });
      return { ...answer, ...(considered > 0 && { considered }) };
    });
    const recalled = found ?? (await nothing(embed(ports.generations.newest), paid));
    // This caller was told that it took too long, and pays nothing. Nothing is awaited from here on.
    signal.throwIfAborted();
    ports.quota.count(caller, { namespace: scope.namespace, call: "recall", tokens: recalled.queryTokens });
    return recalled;
  });
}

interface Ordering extends PlacedOptions {
  readonly explain: boolean;
}

async function byMeaning(
  search: Search,
  { explain, wanted, minScore = 0, ...query }: Omit<Ordering, "hearing">,
): Promise<Found[]> {
  const scored = await search.nearest({ ...query, wanted, limit: wanted + SPARE_CANDIDATES });
  const ranked = rank(scored, wanted).filter(({ score }) => score >= minScore);
  if (!explain) return ranked;
  return ranked.map((each) => ({ ...each, explanation: { rank: each.score, weight: 0, matched: [] } }));
}

async function byBoth(search: Search, { explain, ...query }: Ordering): Promise<Found[]> {
  const { weight, placed } = await search.placed(query);
  return placed.map(({ share, matched, rank, ...each }) => {
    const fit = fitOf({ score: each.score, words: share });
    return { ...each, words: share, ...(explain && { explanation: { rank, weight, matched, fit } }) };
  });
}

/** Adds which memory superseded each result, and leaves out those that are gone meanwhile. */
async function withSuccessors(
  { log, clock }: RecallPorts,
  logId: string,
  results: readonly Found[],
): Promise<Found[]> {
  const showing = { log, logId, nowMs: clock.wallMs(), includeSuperseded: true };
  const shown = await shownOf(showing, results);
  const bySequence = new Map(shown.map(({ sequence, entry }) => [sequence, entry.supersededBy]));
  return results
    .filter(({ sequence }) => bySequence.has(sequence))
    .map((found) => ({ ...found, supersededBy: bySequence.get(found.sequence) }));
}

/** Ends an answer before the first result that it has no room for. */
function withRoom(
  results: readonly Found[],
  maxTokens: number | undefined,
): Pick<Recalled, "results" | "shortened"> {
  const room = new Room(maxTokens);
  const fitting = results.filter(({ entry }) => room.take(entry));
  return { results: fitting, ...(room.isFull && { shortened: true }) };
}

/** Answers a recall in a namespace that does not exist. It says so by the number 0, so that a typo is noticed. */
async function nothing(embedding: Promise<Embedding>, paid: Promise<void>): Promise<Recalled> {
  const [{ tokens }] = await Promise.all([embedding, paid]);
  return { results: [], queryTokens: tokens, considered: 0 };
}

/**
 * Fit of a memory to a query by itself, 0 to 1.5. Unlike the rank it does not depend on the other
 * memories, so one floor serves all namespaces (docs/decisions.md).
 */
export function fitOf({ score, words = 0 }: Pick<Candidate, "score" | "words">): number {
  return score + words / 2;
}

/** Leaves out the results that do not fit, and says which if reasons were asked for. */
function fitting<F extends Candidate>(
  results: readonly F[],
  { minFit, explain }: { minFit: number | undefined; explain: boolean },
): { results: readonly F[]; omitted?: readonly Omitted[] } {
  if (minFit === undefined) return { results };
  const fits = (each: F) => fitOf(each) >= minFit;
  const omitted = results.filter((each) => !fits(each)).map(omit);
  return { results: results.filter(fits), ...(explain && { omitted }) };
}

function omit({ entry, score, words = 0 }: Candidate): Omitted {
  return { id: entry.id, score, words, fit: fitOf({ score, words }) };
}
