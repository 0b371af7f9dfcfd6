import type {
  Memory,
  Metadata,
  Namespace,
  OnSecret,
  Order,
  RecallRequest,
  Redacted,
  StoreRequest,
  UpdateFailure,
} from "../clients/typescript/src/index.js";
import { printable } from "../src/admin/show.js";
import { counted, count as grouped, memoriesOf } from "../src/errors.js";
import { IDS_MAX } from "../src/memory/requests/id.js";
import { PAGE_SIZE_MAX } from "../src/memory/requests/page.js";
import { UsageError } from "./failure.js";
import { print, short, tableOf, toTheSecond } from "./output.js";
import { connect, type NamespaceOptions, type Options } from "./profile.js";
import { metadataGiven, textGiven } from "./values.js";

/** The part of a command's options that its request has by the same names. */
function requestOf<Given extends NamespaceOptions>({ url, profile, json, ...request }: Given) {
  return request;
}

interface Storing extends NamespaceOptions, Pick<StoreRequest, StoreOption> {
  readonly file?: string;
  readonly metadata: string[];
  readonly supersedes: string[];
  readonly at?: string;
}

type StoreOption = "externalId" | "onConflict" | "similarAbove" | "onSimilar" | "onSecret" | "ttl";

/** Told of a text in a script that the server's model hardly knows. */
const UNREAD_HINT = "The server's model hardly reads this script: look for the text by its words.";

export async function store(
  words: readonly string[],
  { file, at: eventTime, ...given }: Storing,
): Promise<void> {
  const { namespace } = given;
  const metadata = metadataGiven(given.metadata);
  const text = await textGiven(words, file);
  const supersedes = given.supersedes.length > 0 ? given.supersedes : undefined;
  const answer = await connect(given).store({ ...requestOf(given), text, metadata, supersedes, eventTime });
  const done = { CREATED: "stored", REPLACED: "replaced", KEPT: "kept" }[answer.outcome ?? "CREATED"];
  const hint = answer.unreadShare === undefined ? [] : [UNREAD_HINT];
  print(given, answer, () => [
    `${answer.id} ${done} in ${namespace}, ${answer.tokens} tokens`,
    ...redactedIn(answer),
    ...(answer.similar?.memories ?? []).map(
      ({ id, text, score }) => `similar: ${score.toFixed(3)} ${id} ${short(text)}`,
    ),
    ...hint,
  ]);
}

/** One line that names what was redacted, if anything was. */
function redactedIn({ redacted }: { readonly redacted?: Redacted }): string[] {
  if (redacted === undefined) return [];
  const { secrets, count } = redacted;
  const named = secrets.map(({ kind, field }) => `${kind} in ${field}`).join(", ");
  const more = count > secrets.length ? `, and ${count - secrets.length} more` : "";
  return [`redacted: ${named}${more}`];
}

interface Updating extends NamespaceOptions {
  readonly file?: string;
  readonly metadata: string[];
  readonly replaceMetadata?: boolean;
  readonly ttl?: string;
  readonly expires?: string;
  readonly at?: string;
  readonly etag?: string;
  readonly onSecret?: OnSecret;
}

export async function update(
  id: string,
  words: readonly string[],
  { file, replaceMetadata, ...given }: Updating,
): Promise<void> {
  const { namespace, ttl, expires: expireTime, at: eventTime, etag, onSecret } = given;
  const metadata = metadataGiven(given.metadata);
  if (replaceMetadata && metadata === undefined) throw new UsageError("--replace-metadata needs --metadata");
  const hasText = words.length > 0 || file !== undefined;
  const isOther = [metadata, ttl, expireTime, eventTime].some((each) => each !== undefined);
  const text = hasText || !isOther ? await textGiven(words, file) : undefined;
  const merged = replaceMetadata ? undefined : metadata;
  const updateMask = Object.entries({ text, metadata, expireTime, ttl, eventTime })
    .filter(([, value]) => value !== undefined)
    .flatMap(([name]) => (name === "metadata" && merged ? pathsOf(merged) : name));
  const changes = { text, metadata, expireTime, ttl, eventTime, etag, onSecret, updateMask };
  const answer = await connect(given).update({ namespace, id, ...changes });
  const how = merged ? ", its metadata merged (--replace-metadata replaces it)" : "";
  print(given, answer, () => [`${id} updated in ${namespace}${how}`, ...redactedIn(answer)]);
}

function pathsOf(metadata: Metadata): string[] {
  const keys = Object.keys(metadata);
  const odd = keys.find((key) => key.includes(","));
  if (odd !== undefined) {
    throw new UsageError(`--metadata: ${odd} has a comma, so it cannot be merged; use --replace-metadata`);
  }
  if (keys.length === 0)
    throw new UsageError("--metadata {} changes nothing; --replace-metadata removes all");
  return keys.map((key) => `metadata.${key}`);
}

interface Recalling extends NamespaceOptions, Pick<RecallRequest, RecallOption> {
  readonly halfLife?: string;
  readonly recencyWeight?: number;
  readonly or?: readonly string[];
  readonly like?: string;
  readonly around?: number;
  readonly aroundSame?: string;
}

type RecallOption =
  | ("topK" | "mode" | "filter" | "after" | "before" | "alsoIn")
  | ("minScore" | "minFit" | "fields" | "maxTokens");

/** Weight of recency when only the half-life is given: it decides among memories that fit equally well. */
const RECENCY_WEIGHT = 0.1;

export async function recall(words: readonly string[], given: Recalling): Promise<void> {
  const { halfLife, recencyWeight, or = [], like: likeId, around, aroundSame: same, ...others } = given;
  const { namespace, mode = "HYBRID" } = others;
  if (recencyWeight !== undefined && halfLife === undefined) {
    throw new UsageError("--recency-weight is for --half-life, which is missing");
  }
  const recency = halfLife === undefined ? undefined : { halfLife, weight: recencyWeight ?? RECENCY_WEIGHT };
  // The server would speak of the fields before and after, which are options of another meaning here.
  if (same !== undefined && around === undefined) throw new UsageError("--around-same needs --around");
  const neighbors = around === undefined ? undefined : { before: around, after: around, same };
  const queries = [...(words.length > 0 ? [words.join(" ")] : []), ...or];
  if (queries.length === 0 && likeId === undefined)
    throw new UsageError("say what to recall: a question, or --like with an id");
  // The server refuses one beside an id.
  const question = queries.length > 1 ? { queries } : { query: queries[0] };
  const asked = { ...requestOf(others), ...question, likeId, mode, recency, neighbors };
  const answer = await connect(given).recall(asked);
  print(given, answer, () =>
    answer.results.length === 0
      ? [`nothing in ${namespace}`]
      : tableOf(
          {
            score: ({ score }) => score?.toFixed(3) ?? "",
            words: ({ words }) => words?.toFixed(3) ?? "",
            id: ({ id }) => id,
            text: ({ text }) => short(text),
          },
          answer.results.flatMap((each) => [
            ...(each.before?.memories ?? []).map(beside),
            each,
            ...(each.after?.memories ?? []).map(beside),
          ]),
        ),
  );
}

/** Shows a neighbor as a row without a score, beside the result that it is around. */
function beside({ id, text }: Memory) {
  return { id, text, score: undefined, words: undefined };
}

interface Listing extends NamespaceOptions {
  readonly limit: number;
  readonly filter?: Metadata;
  readonly order?: Order;
}

export async function list(given: Listing): Promise<void> {
  const { namespace, filter, limit, order } = given;
  const memories: Memory[] = [];
  const pageSize = Math.min(PAGE_SIZE_MAX, limit);
  if (limit > 0) {
    for await (const memory of connect(given).memories({ namespace, filter, order, pageSize })) {
      if (memories.push(memory) === limit) break;
    }
  }
  print(given, { memories }, () =>
    tableOf(
      {
        id: ({ id }) => id,
        ...(order?.startsWith("EVENT")
          ? { happened: ({ createdAt, eventTime }: Memory) => toTheSecond(eventTime ?? createdAt) }
          : { stored: ({ createdAt }: Memory) => toTheSecond(createdAt) }),
        text: ({ text }) => short(text),
      },
      memories,
    ),
  );
}

export async function get(id: string, given: NamespaceOptions): Promise<void> {
  const { namespace } = given;
  const { memory } = await connect(given).get({ namespace, id });
  print(given, memory, () => [
    printable(memory.text),
    printable(JSON.stringify(memory.metadata)),
    `${memory.id}, stored ${memory.createdAt}, ${memory.tokens} tokens`,
    ...(memory.eventTime === undefined ? [] : [`happened ${memory.eventTime}`]),
  ]);
}

export async function count(given: NamespaceOptions & { filter?: Metadata }): Promise<void> {
  const { namespace, filter } = given;
  const answer = await connect(given).count({ namespace, filter });
  print(given, answer, () => [`${memoriesOf(answer.memories)} in ${namespace}`]);
}

interface Forgetting extends NamespaceOptions {
  readonly filter?: Metadata;
  readonly all?: boolean;
}

export async function forget(ids: readonly string[], given: Forgetting): Promise<void> {
  const { namespace, filter, all } = given;
  const ways = [ids.length > 0, filter !== undefined, all === true].filter(Boolean);
  if (ways.length !== 1) throw new UsageError("say what to forget: ids, --filter or --all, and one of them");
  if (all) return await dropNamespace(namespace, { ...given, force: true });
  const recalld = connect(given);
  const [id = ""] = ids;
  if (ids.length === 1) {
    const answer = await recalld.delete({ namespace, id });
    return print(given, answer, () => [`${id} erased`]);
  }
  let deleted = 0;
  for (const what of targetsOf(ids, filter)) {
    for (let more = true; more; ) {
      const answer = await recalld.deleteMemories({ namespace, ...what });
      deleted += answer.deleted;
      more = answer.more;
    }
  }
  const missing = filter === undefined ? new Set(ids).size - deleted : 0;
  const rest = missing > 0 ? `, ${missing} ${missing === 1 ? "was" : "were"} not there` : "";
  print(given, { deleted, ...(filter === undefined && { missing }) }, () => [`${deleted} erased${rest}`]);
}

interface UpdatingMany extends NamespaceOptions {
  readonly filter?: Metadata;
  readonly metadata: string[];
  readonly remove: string[];
  readonly dryRun?: boolean;
}

export async function updateMetadata(ids: readonly string[], given: UpdatingMany): Promise<void> {
  const { namespace, filter, remove, dryRun } = given;
  const metadata = metadataGiven(given.metadata);
  const recalld = connect(given);
  const change = { namespace, metadata, remove };
  if (dryRun) {
    const { matched = 0, samples } = await recalld.updateMemories({ ...change, ids, filter, dryRun });
    const columns = {
      id: ({ id }: Memory) => id,
      metadata: (each: Memory) => short(JSON.stringify(each.metadata)),
    };
    const match =
      matched === 1
        ? "matches; as it"
        : `match; ${matched > samples.length ? "some of them, as" : "as"} they`;
    return print(given, { matched, samples }, () =>
      matched === 0
        ? ["0 memories match"]
        : [`${memoriesOf(matched)} ${match} would be:`, ...tableOf(columns, samples)],
    );
  }
  let updated = 0;
  const failed: UpdateFailure[] = [];
  for (const what of targetsOf(ids, filter)) {
    let pageToken: string | undefined;
    do {
      const answer = await recalld.updateMemories({ ...change, ...what, pageToken });
      updated += answer.updated;
      failed.push(...answer.failed);
      pageToken = answer.nextPageToken;
    } while (pageToken);
  }
  print(given, { updated, failed }, () => [
    `${grouped(updated)} updated`,
    ...failed.map(({ id, error }) => printable(`${id} stays as it was: ${error?.message ?? ""}`)),
  ]);
  if (failed.length > 0) process.exitCode = 1;
}

/** What calls are about: the memories of a filter, or those with some ids, as many as one call takes. */
function targetsOf(ids: readonly string[], filter: Metadata | undefined) {
  const distinct = [...new Set(ids)];
  return Array.from({ length: Math.max(1, Math.ceil(distinct.length / IDS_MAX)) }, (_, i) => ({
    ids: distinct.slice(i * IDS_MAX, (i + 1) * IDS_MAX),
    filter,
  }));
}

interface Dropping extends Options {
  readonly force?: boolean;
  readonly prefix?: string;
  readonly dryRun?: boolean;
}

export async function dropNamespaces(
  name: string | undefined,
  { prefix, dryRun, ...given }: Dropping,
): Promise<void> {
  if ((name === undefined) === (prefix === undefined))
    throw new UsageError("say what to delete: a name or --prefix, and one of them");
  if (dryRun && prefix === undefined) throw new UsageError("--dry-run needs --prefix");
  if (name !== undefined) return await dropNamespace(name, given);
  const recalld = connect(given);
  const meant = { prefix: prefix ?? "" };
  if (dryRun) {
    const { namespaces, memories, matched = 0 } = await recalld.deleteNamespaces({ ...meant, dryRun });
    const begin = `${counted(matched, "namespace")} ${matched === 1 ? "begins" : "begin"} with ${printable(prefix ?? "")}`;
    const some = matched > namespaces.length ? `the first ${namespaces.length}` : "these";
    const hold = matched === 1 ? "it holds" : `${some} hold`;
    return print(given, { namespaces, memories, matched }, () =>
      matched === 0 ? [begin] : [`${begin}; ${hold} ${memoriesOf(memories)}:`, ...namespaces.map(short)],
    );
  }
  if (!given.force) {
    throw new UsageError("--prefix deletes memories too: see which with --dry-run, then add --force");
  }
  let [deleted, memories] = [0, 0];
  for (let more = true; more; ) {
    const answer = await recalld.deleteNamespaces(meant);
    deleted += answer.deleted;
    memories += answer.memories;
    more = answer.more;
  }
  print(given, { deleted, memories }, () => [
    `${counted(deleted, "namespace")} deleted, with ${memoriesOf(memories)}`,
  ]);
}

async function dropNamespace(
  namespace: string,
  { force, ...given }: Options & { force?: boolean },
): Promise<void> {
  const { deleted } = await connect(given).deleteNamespace({ namespace, force });
  print(given, { namespace, deleted }, () => [`${namespace} deleted, with ${memoriesOf(deleted)}`]);
}

export async function namespaces(given: Options): Promise<void> {
  const all: Namespace[] = [];
  for await (const each of connect(given).namespaces({ pageSize: PAGE_SIZE_MAX })) all.push(each);
  print(given, { namespaces: all }, () =>
    tableOf(
      {
        memories: ({ memories }) => grouped(memories),
        bytes: ({ bytes }) => grouped(bytes),
        namespace: ({ namespace }) => short(namespace),
      },
      all,
    ),
  );
}
