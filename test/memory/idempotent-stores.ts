import { afterEach, beforeEach } from "vitest";
import {
  Idempotency,
  type IdempotentRequest,
  type IdempotentWork,
  type Outcome,
} from "../../src/memory/idempotency/idempotency.js";
import type { Stored } from "../../src/memory/ports/log.js";
import { entriesOf } from "../contract/samples.js";
import { HandClock } from "./clock.js";
import { appendTo, type Domain, memoryOf, scopeOf, TestService } from "./domain.js";

export const OWNER_TIMEOUT_MS = 30_000;

export let service: TestService;
export let domain: Domain;
export let clock: HandClock;
/** Texts of the written memories, in the order of their writes. */
export let written: string[];

beforeEach(async () => {
  service = await TestService.open();
  domain = service.domain();
  clock = new HandClock();
  written = [];
  undone = 0;
});
afterEach(() => service.close());

/** Makes the idempotency of a separate process. */
export const aProcess = ({ exclusive = true } = {}) =>
  new Idempotency({ ...service.storage, clock, exclusive });

export const asked = (text: string, given: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  scope: scopeOf("a"),
  idempotencyKey: "key",
  content: [text, "{}"],
  ...given,
});

export const vector = new Float32Array(16).fill(0.25);
/** Number of refunds of attempts. */
export let undone = 0;
/**
 * Makes work that stores a text. `before` and `after` run around the moment from which it may be in the log.
 */
export const writing = (
  text: string,
  {
    before,
    confirmed,
    after,
  }: { before?: () => unknown; confirmed?: () => unknown; after?: () => unknown } = {},
): IdempotentWork => ({
  write: async ({ memoryId: id, confirm }) => {
    await before?.();
    const entry: Stored = memoryOf({ sequence: 0, vector }, { id, opId: id, text });
    const memoryIn = async () => {
      await confirm();
      await confirmed?.();
      return entry;
    };
    await appendTo(domain.namespaces, "a", { memoryIn, idempotent: true });
    written.push(text);
    await after?.();
    return { id, tokens: entry.tokens, createdAtMs: entry.createdAtMs };
  },
  stored: () => [],
  undo: async () => void undone++,
});
const dies = () => new Promise<never>(() => {});
export const never: IdempotentWork = {
  write: async () => {
    throw new Error("it must not be written again");
  },
  stored: () => [],
  undo: async () => {},
};

export const idsInLog = async () => {
  const logId = await service.storage.names.find(scopeOf("a"));
  if (logId === undefined) return [];
  const entries = await entriesOf(service.storage.log, { logId, from: 1, limit: 100 });
  return entries.flatMap(({ entry }) => (entry.op === "store" ? [entry.id] : []));
};
/** Reports that it was reached, and never ends. */
export const endsAt = (reached: () => void) => () => {
  reached();
  return dies();
};
/** Runs until `reached` is called inside. The rest continues by itself. */
export const start = (
  idempotency: Idempotency,
  request: IdempotentRequest,
  work: (reached: () => void) => IdempotentWork,
) =>
  new Promise<{ running: Promise<Outcome> }>((resolve) => {
    const handle: { running?: Promise<Outcome> } = {};
    const running = idempotency.run(
      request,
      work(() => setImmediate(() => resolve(handle as { running: Promise<Outcome> }))),
    );
    handle.running = running;
    running.catch(() => {});
  });
