import type { Sequenced } from "../../src/memory/ports/log.js";
import { etagOf } from "../../src/memory/versions/current-version.js";
import type { Storage } from "../../src/storage/storage.js";
import { entriesOf } from "../contract/samples.js";
import { type Caller, signUp } from "../support/caller.js";
import { chanceOf } from "../support/chance.js";
import { inParallel } from "./load.js";

const PARALLEL = 16;
const NAMESPACE = "raced";
/** Number of attempts at one store. */
const TRIES_MAX = 10;
const ENTRIES_MAX = 1_000_000;

export interface RaceOptions {
  /** Addresses of servers over one database. */
  readonly urls: readonly string[];
  /** The database, to compare the answers with. */
  readonly storage: Pick<Storage, "log" | "names">;
  /** Number of stores. */
  readonly times: number;
  /** Number of external ids that they share. */
  readonly ids: number;
  readonly seed: number;
}

interface Answer {
  readonly id: string;
  readonly etag: string;
  readonly outcome: string;
}

/**
 * Stores with `REPLACE` on random servers at once. Compares the answers with the log: each external id has one
 * memory, each version replaces the one before it, and each answer's etag is that of its version.
 *
 * @throws Error when something differs.
 */
export async function raceReplaces({
  urls,
  storage: { log, names },
  times,
  ids,
  seed,
}: RaceOptions): Promise<{ versions: number }> {
  const chance = chanceOf(seed);
  const caller = await signUp(urls[0] as string);
  const answers = new Map<string, Answer>();
  await inParallel({ times, parallel: PARALLEL }, async (i) => {
    const text = `version ${i}`;
    const external_id = `doc ${chance.below(ids)}`;
    const at = caller.at(chance.pick(urls));
    answers.set(text, await replace(at, { text, external_id }));
  });
  const logId = await names.find({ accountId: caller.id, namespace: NAMESPACE });
  if (logId === undefined) throw new Error("the namespace is not there");
  const entries = await entriesOf(log, { logId, from: 1, limit: ENTRIES_MAX });
  compare(entries, [...answers.values()]);
  await compareTexts(caller, { answers, entries, ids });
  return { versions: entries.length };
}

/** Replaces once, however often it is tried: a machine that does much else may be too slow for one attempt. */
async function replace(at: Caller, sent: { text: string; external_id: string }): Promise<Answer> {
  const request = { ...sent, namespace: NAMESPACE, on_conflict: "REPLACE" } as never;
  for (let tries = 1; ; tries++) {
    const outcome = await at.store(request, { "idempotency-key": sent.text });
    if (outcome.code === "ok") return outcome.body as unknown as Answer;
    if (outcome.code !== "unavailable" || tries === TRIES_MAX) {
      throw new Error(`store: ${outcome.code}, ${outcome.message}`);
    }
  }
}

/** Compares the versions in the log with the answers. */
function compare(entries: readonly Sequenced[], answers: readonly Answer[]): void {
  const last = new Map<string, number>();
  const etags = new Map<string, string>();
  for (const { sequence, entry } of entries) {
    if (entry.op !== "store" && entry.op !== "erased") throw new Error(`entry ${sequence} is ${entry.op}`);
    const { id, replaces } = entry;
    if (last.get(id) !== replaces)
      throw new Error(`entry ${sequence} replaces ${replaces}, and lost an update`);
    last.set(id, sequence);
    etags.set(etagOf(entry), id);
  }
  if (etags.size !== answers.length) throw new Error(`${etags.size} versions, ${answers.length} answers`);
  for (const { id, etag } of answers) {
    if (etags.get(etag) !== id) throw new Error(`${id} was answered with ${etag}, which no version has`);
  }
  const created = answers.filter(({ outcome }) => outcome === "CREATED").length;
  if (created !== last.size) throw new Error(`${created} were created, and there are ${last.size} memories`);
}

/** Compares what is left in the log with what the last versions were stored as. */
async function compareTexts(
  caller: Caller,
  { answers, entries, ids }: { answers: Map<string, Answer>; entries: readonly Sequenced[]; ids: number },
): Promise<void> {
  const living = entries.flatMap(({ entry }) => (entry.op === "store" ? [entry] : []));
  const externalIds = new Set(living.map(({ externalId }) => externalId));
  if (externalIds.size !== living.length || living.length > ids) {
    throw new Error(`${living.length} memories of ${externalIds.size} external ids`);
  }
  for (const entry of living) {
    const etag = etagOf(entry);
    if (answers.get(entry.text)?.etag !== etag) throw new Error(`${entry.text} has another etag, ${etag}`);
    const { code, message, body } = await caller.get(NAMESPACE, entry.id);
    const memory = body.memory as { etag: string; text: string } | undefined;
    if (code !== "ok") throw new Error(`get: ${code}, ${message}`);
    if (memory?.etag !== etag || memory.text !== entry.text) {
      throw new Error(`${entry.id} is ${memory?.text} (${memory?.etag}), not ${entry.text} (${etag})`);
    }
  }
}
