import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CallOptions, type Clock, Recalld, RecalldError } from "../../clients/typescript/src/index.js";
import { sharedServer, type TestServer } from "../support/server.js";
import {
  openScripted,
  type Received,
  type Scenario,
  type ScriptedServer,
  scenarios,
} from "./scripted-server.js";

/** Silences after which a stream counts as broken: those are no pauses. */
const SILENCES_MS = [45_000, 60_000];

let server: TestServer;
let scripted: ScriptedServer;
beforeAll(async () => {
  server = await sharedServer();
  scripted = await openScripted(server.url);
}, 60_000);
afterAll(async () => {
  scripted?.close();
});

/** Fields whose keys are the caller's own. */
const OWN = ["metadata", "filter"];

/** Rewrites the contract's names as this client has them; the caller's own and times excepted. */
function camel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camel);
  if (typeof value !== "object" || value === null) return value;
  if ("$time" in value) return new Date(String(value.$time));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      camelName(name),
      OWN.includes(name) ? inner : camel(inner),
    ]),
  );
}

const camelName = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A clock whose pauses are over at once; timeouts take their time. */
function quickClock(timeoutMs: number): { clock: Clock; pauses: number[] } {
  const pauses: number[] = [];
  const after = (ms: number, run: () => void) => {
    const isPause = ms !== timeoutMs && !SILENCES_MS.includes(ms);
    if (isPause) pauses.push(ms);
    const timer = setTimeout(run, isPause ? 0 : ms);
    return () => clearTimeout(timer);
  };
  return { clock: { now: () => performance.now(), after }, pauses };
}

type Outcome = { results: unknown[]; error?: RecalldError };

/** Calls a method by its name in the contract, and iterates if that is what it is for. */
async function outcomeOf(
  recalld: Recalld,
  {
    call,
    request,
    options,
    take = Number.POSITIVE_INFINITY,
  }: Pick<Scenario, "call" | "request" | "take"> & {
    options: CallOptions;
  },
): Promise<Outcome> {
  const results: unknown[] = [];
  try {
    const method = recalld[camelName(call) as keyof Recalld] as (...args: unknown[]) => unknown;
    const given = method.call(recalld, camel(request), options);
    if (given instanceof Promise) results.push(await given);
    else for await (const item of given as AsyncIterable<unknown>) if (results.push(item) >= take) break;
    return { results };
  } catch (error) {
    if (!(error instanceof RecalldError)) throw error;
    return { results, error };
  }
}

function checkError(error: RecalldError | undefined, expected: Record<string, unknown>): void {
  expect(error).toBeInstanceOf(RecalldError);
  const { retryAfterMs, status = null, field, message, ...rest } = error as RecalldError;
  const told = {
    ...rest,
    message,
    status,
    field,
    retry_after: (retryAfterMs ?? 0) / 1000,
    request_id: rest.requestId,
  };
  const wanted =
    typeof expected.field === "string" && !/^(metadata|filter)\b/.test(expected.field)
      ? { ...expected, field: camelName(expected.field) }
      : expected;
  expect(told).toMatchObject(wanted);
}

function checkSent(received: readonly Received[], { attempts = received.length, sent = [] }: Scenario): void {
  expect(received).toHaveLength(attempts);
  for (const name of ["idempotency-key", "x-request-id"])
    if (received[0]?.path.endsWith("/Store"))
      expect(new Set(received.map(({ headers }) => headers[name])).size).toBeLessThanOrEqual(1);
  for (const [i, { method, path, headers = {}, matching = {}, absent = [], body }] of sent.entries()) {
    const one = received[i] as Received;
    if (method !== undefined) expect(one.method).toBe(method);
    if (path !== undefined) expect(one.path).toBe(path);
    if (body !== undefined) expect(JSON.parse(one.body)).toEqual(camel(body));
    expect(one.headers).toMatchObject(headers);
    for (const [name, pattern] of Object.entries(matching))
      expect(one.headers[name]).toMatch(new RegExp(pattern));
    for (const name of absent) expect(one.headers).not.toHaveProperty(name);
  }
}

describe("the TypeScript client", () => {
  test.each(scenarios.map((scenario, number) => ({ ...scenario, number })))("$name", async (scenario) => {
    const { timeout, ...options } = (scenario.options ?? {}) as { timeout?: number };
    const timeoutMs = (timeout ?? 35) * 1000;
    const { clock, pauses } = quickClock(timeoutMs);
    const run = `ts-${scenario.number}`;
    const baseUrl = scenario.refused ? scripted.closedUrl : `${scripted.url}/${run}`;
    const recalld = new Recalld({ apiKey: "rcl_x", baseUrl, clock });
    const giveUp =
      scenario.give_up_after === undefined ? {} : { giveUpAfterMs: scenario.give_up_after * 1000 };
    const own = { ...(camel(options) as CallOptions), timeoutMs, ...giveUp };
    const { results, error } = await outcomeOf(recalld, { ...scenario, options: own });

    if (scenario.error === undefined) expect(error).toBeUndefined();
    else checkError(error, scenario.error as Record<string, unknown>);
    const wanted = scenario.results ?? (scenario.result === undefined ? undefined : [scenario.result]);
    if (wanted !== undefined) {
      expect(results).toHaveLength(wanted.length);
      expect(results).toMatchObject(camel(wanted) as object[]);
    }
    for (const [i, [least, most]] of (scenario.pauses ?? []).entries()) {
      expect(pauses[i]).toBeGreaterThanOrEqual(least);
      expect(pauses[i]).toBeLessThanOrEqual(most);
    }
    const received = (await (await fetch(`${scripted.url}/requests/${run}`)).json()) as Received[];
    checkSent(received, scenario);
    if (scenario.then === undefined) return;
    const { call, request, result } = scenario.then;
    const after = await outcomeOf(recalld, { call, request, options: {} });
    expect(after.results).toMatchObject([camel(result) as object]);
  });
});
