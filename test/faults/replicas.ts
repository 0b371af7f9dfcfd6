import { type Caller, resultsOf, type Sent, signUp } from "../support/caller.js";
import { chanceOf } from "../support/chance.js";
import { expectRecalled, inParallel, storedMemoryOf } from "./load.js";

const PARALLEL = 8;
/** Maximum times that one store may be unavailable. */
const FAILED_MAX = 5;
const NAMESPACES = ["a", "b", "c"];

export interface ReplicaOptions {
  /** Addresses of servers over one database. */
  readonly urls: readonly string[];
  readonly times: number;
  readonly seed: number;
}

/**
 * Stores on one server and immediately recalls on another.
 *
 * @throws Error when a recall misses a memory that was stored before it.
 */
export async function storeHereRecallThere({
  urls,
  times,
  seed,
}: ReplicaOptions): Promise<{ stored: number }> {
  const chance = chanceOf(seed);
  const caller = await signUp(urls[0] as string);
  await inParallel({ times, parallel: PARALLEL }, async () => {
    const here = chance.pick(urls);
    const there = chance.pick(urls.filter((url) => url !== here));
    const sent = { text: chance.text(), namespace: chance.pick(NAMESPACES), metadata: chance.metadata() };
    const outcome = await caller.at(here).store(sent);
    if (outcome.code !== "ok") throw new Error(`store: ${outcome.code}, ${outcome.message}`);
    await expectRecalled(storedMemoryOf(caller, sent, outcome), there);
  });
  return { stored: times };
}

/**
 * Sends each store three times with one key: two at once on different servers, and one afterwards. What is
 * unavailable is sent again, as the key allows.
 *
 * @throws Error when they made more than one memory, differ in their answer, or cost more than once.
 */
export async function retryStores({
  urls,
  times,
  seed,
}: ReplicaOptions): Promise<{ replayed: number; unavailable: number; used: number }> {
  const chance = chanceOf(seed);
  const caller = await signUp(urls[0] as string);
  const stored: Sent[] = [];
  let [replayed, unavailable] = [0, 0];
  await inParallel({ times, parallel: PARALLEL }, async (i) => {
    const sent = { text: chance.text(), namespace: chance.pick(NAMESPACES), metadata: chance.metadata() };
    stored.push(sent);
    const attempt = async () => {
      for (let failed = 0; ; failed++) {
        const at = caller.at(chance.pick(urls));
        const outcome = await at.store(sent, { "idempotency-key": `retry-${seed}-${i}` });
        if (outcome.code === "unavailable" && failed < FAILED_MAX) unavailable++;
        else if (outcome.code !== "ok") throw new Error(`store: ${outcome.code}, ${outcome.message}`);
        else {
          if (outcome.header.get("idempotent-replayed") === "true") replayed++;
          return JSON.stringify(outcome.body);
        }
      }
    };
    const answers = [...(await Promise.all([attempt(), attempt()])), await attempt()];
    if (new Set(answers).size > 1) throw new Error(`one key, several answers: ${answers}`);
  });
  // A store that was unavailable may have been kept without being paid, or paid without being kept.
  const used = await caller.used();
  if (Math.abs(used - times) > unavailable) throw new Error(`${times} keys cost ${used} calls`);
  if (replayed < 2 * times || replayed > 2 * times + unavailable)
    throw new Error(`${replayed} of ${2 * times} retries say that they are`);
  await expectEachOnce(caller, stored);
  return { replayed, unavailable, used };
}

async function expectEachOnce(caller: Caller, stored: readonly Sent[]): Promise<void> {
  await inParallel({ times: stored.length, parallel: PARALLEL }, async (i) => {
    const { text, namespace } = stored[i] as Sent;
    const results = resultsOf(await caller.recall(text, namespace, 20));
    const times = results.filter((result) => result.text === text).length;
    if (times !== 1) throw new Error(`"${text}" is there ${times} times`);
  });
}
