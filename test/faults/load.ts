import type { Caller, Result, Sent } from "../support/caller.js";
import { resultsOf } from "../support/caller.js";
import type { Outcome } from "../support/protocols.js";

/** A memory that the server has acknowledged. */
export interface StoredMemory {
  readonly caller: Caller;
  readonly sent: Required<Sent>;
  readonly id: string;
  readonly createdAt: string;
}

/** Returns an outcome, or `unanswered` for a connection that ended without one. */
export async function outcomeOf(call: Promise<Outcome>): Promise<Outcome | "unanswered"> {
  try {
    return await call;
  } catch (error) {
    if (isGone(error)) return "unanswered";
    throw error;
  }
}

/** Recognizes fetch's error for a server that does not run or that ended in the middle. */
function isGone(error: unknown): boolean {
  return error instanceof TypeError || error instanceof SyntaxError;
}

export function storedMemoryOf(caller: Caller, sent: Required<Sent>, { body }: Outcome): StoredMemory {
  return { caller, sent, id: String(body.id), createdAt: String(body.created_at) };
}

/**
 * Checks that a memory is unchanged.
 *
 * @throws Error when it is missing or differs.
 */
export async function expectGot({ caller, sent, id, createdAt }: StoredMemory, url: string): Promise<void> {
  const { code, body } = await caller.at(url).get(sent.namespace, id);
  if (code !== "ok") throw new Error(`${id} was acknowledged and is lost: ${code}`);
  expectAsGiven(body.memory as unknown as Result, { sent, createdAt });
}

/**
 * Checks that a recall with the memory's own text finds it unchanged. It costs a call.
 *
 * @throws Error when it does not.
 */
export async function expectRecalled(
  { caller, sent, id, createdAt }: StoredMemory,
  url: string,
): Promise<void> {
  const results = resultsOf(await caller.at(url).recall(sent.text, sent.namespace, 20));
  const found = results.find((result) => result.id === id);
  if (found === undefined) throw new Error(`${id} was acknowledged and is not recalled`);
  expectAsGiven(found, { sent, createdAt });
}

function expectAsGiven(found: Result, { sent, createdAt }: { sent: Sent; createdAt: string }): void {
  const [is, was] = [
    [found.text, sortedJson(found.metadata), found.created_at],
    [sent.text, sortedJson(sent.metadata), createdAt],
  ].map((parts) => JSON.stringify(parts));
  if (is !== was) throw new Error(`${found.id} is ${is}, and was given as ${was}`);
}

/** Writes JSON with sorted keys, because their order means nothing. */
export function sortedJson(value: unknown): string {
  const sorted = (_: string, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner;
  return JSON.stringify(value, sorted);
}

/** Runs the work for 0 … `times` - 1, at most `parallel` at a time. */
export async function inParallel(
  { times, parallel }: { times: number; parallel: number },
  work: (i: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const run = async () => {
    while (next < times) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, times) }, run));
}
