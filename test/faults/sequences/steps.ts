import { setTimeout } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Caller, resultsOf } from "../../support/caller.js";
import type { Chance } from "../../support/chance.js";
import type { Outcome } from "../../support/protocols.js";
import type { Content } from "./model.js";
import { EXTERNAL_IDS, storeRequest } from "./store-requests.js";

/** Maximum memories of a namespace. A recall shows 20, so it shows all of them. */
const MEMORIES_MAX = 20;
const BATCH = 3;
/** Time after which a memory expires that is to expire at once. */
const EXPIRES_MS = 200;

export interface World {
  /** Ids and texts of all accounts, existing or deleted, as bait for leaks. */
  readonly bait: { id: string; text: string }[];
  readonly figures: { sequences: number; operations: number; recalls: number };
}

export interface Step {
  readonly world: World;
  readonly chance: Chance;
  readonly namespace: string;
  readonly content: Content;
  readonly caller: Caller;
}

type Do = (step: Step) => Promise<void>;

export async function takeStep(step: Step): Promise<void> {
  if (step.content.memories.size + BATCH > MEMORIES_MAX) return drop(step);
  let left = step.chance.next() * WEIGHTS.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [work, weight] of WEIGHTS) {
    left -= weight;
    if (left < 0) return work(step);
  }
}

const store: Do = async (step) => {
  const { caller, namespace } = step;
  const { sent, expect } = storeRequest(step);
  const { code, message, body } = await caller.store({ ...sent, namespace });
  expectCode(`store of ${JSON.stringify(sent)} (${message})`, code, expect(idIn(body)));
  keepAsBait(step, idIn(body), sent.text);
};

/** Stores several at once: they succeed or fail as if one came after the other. */
const storeBatch: Do = async (step) => {
  const { caller, namespace } = step;
  const requests = Array.from({ length: BATCH }, () => storeRequest(step));
  const asked = { namespace, memories: requests.map(({ sent }) => sent) };
  const outcome = await caller.call("POST /store/batch", { body: asked });
  const results = resultsOfBatch(outcome);
  for (const [i, { sent, expect }] of requests.entries()) {
    const { stored, error } = results[i] ?? { error: { code: outcome.code } };
    const meant = expect(stored?.id);
    // If none can be stored, the call has the error of the first.
    if (results.length > 0 || i === 0) {
      expectCode(`store of ${JSON.stringify(sent)} in a batch`, error?.code ?? "ok", meant);
    } else if (meant === "ok") throw new Error(`a batch with ${sent.text} failed: ${outcome.message}`);
    keepAsBait(step, stored?.id, sent.text);
  }
};

interface BatchResult {
  readonly stored?: { readonly id: string };
  readonly error?: { readonly code: string };
}

function resultsOfBatch({ code, body }: Outcome): readonly BatchResult[] {
  return code === "ok" ? (body.results as unknown as BatchResult[]) : [];
}

const update: Do = async (step) => {
  const id = someId(step, 0.8);
  if (id === undefined) return;
  const { caller, namespace, content, chance } = step;
  const text = chance.text();
  const { code } = await caller.call(`PATCH ${caller.pathOf(namespace, id)}`, { body: { text } });
  const memory = content.memories.get(id);
  const missing = memory === undefined ? "not_found" : "ok";
  expectCode(`update of ${id}`, code, memory?.superseded ? "failed_precondition" : missing);
  if (memory === undefined || memory.superseded) return;
  memory.text = text;
  keepAsBait(step, id, text);
};

/** Lets a memory expire, and waits until it has. */
const expire: Do = async ({ caller, namespace, content, chance }) => {
  const ids = [...content.memories].filter(([, { superseded }]) => !superseded).map(([id]) => id);
  if (ids.length === 0) return;
  const id = chance.pick(ids);
  const body = { expire_time: new Date(Date.now() + EXPIRES_MS).toISOString() };
  const { code, message } = await caller.call(`PATCH ${caller.pathOf(namespace, id)}`, { body });
  // A machine that is busy may send it when that time is over.
  if (code === "invalid_argument" && message.includes("future")) return;
  expectCode(`expiry of ${id}`, code, "ok");
  await setTimeout(EXPIRES_MS + 50);
  content.memories.delete(id);
};

const forget: Do = async (step) => {
  const id = someId(step, 0.7);
  if (id === undefined) return;
  const { code } = await step.caller.forget(step.namespace, id);
  expectCode(`delete of ${id}`, code, step.content.memories.delete(id) ? "ok" : "not_found");
};

const forgetSeveral: Do = async (step) => {
  const ids = [someId(step, 0.7), someId(step, 0.7)].filter((id) => id !== undefined);
  if (ids.length === 0) return;
  const { caller, namespace, content } = step;
  const asked = { namespace, ids };
  const { code, body } = await caller.call("POST /recalld.v1.MemoryService/DeleteMemories", { body: asked });
  const deleted = ids.filter((id) => content.memories.delete(id)).length;
  expectCode(`delete of ${ids}`, code, "ok");
  if (body.deleted !== deleted) throw new Error(`delete of ${ids} answered ${body.deleted}, not ${deleted}`);
};

/** Deletes what has an external id, but for what was superseded. */
const forgetByFilter: Do = async ({ caller, namespace, content, chance }) => {
  const externalId = chance.pick(EXTERNAL_IDS);
  const asked = { namespace, filter: { $external_id: externalId } };
  const { code, body } = await caller.call("POST /recalld.v1.MemoryService/DeleteMemories", { body: asked });
  const [id, memory] = content.currentByExternalId(externalId) ?? [];
  const isMeant = id !== undefined && memory?.superseded === false;
  expectCode(`delete by ${JSON.stringify(asked.filter)}`, code, "ok");
  if (body.deleted !== (isMeant ? 1 : 0) || body.more !== false) {
    throw new Error(`delete of ${externalId} answered ${JSON.stringify(body)} for ${JSON.stringify(memory)}`);
  }
  if (isMeant) content.memories.delete(id);
};

const drop: Do = async ({ caller, namespace, content }) => {
  const { code, body } = await caller.drop(namespace);
  const { size } = content.memories;
  // An existing namespace may be empty. The model does not tell whether it exists.
  if (size === 0 && code === "not_found") return;
  expectCode(`drop of ${namespace}`, code, "ok");
  // Memories that have expired count until they are erased.
  if ((body.deleted as number) < size) throw new Error(`drop answered ${body.deleted} of ${size}`);
  content.memories.clear();
};

const recall: Do = async ({ world, chance, caller, namespace, content }) => {
  world.figures.recalls++;
  const query = baitOf(world, chance)?.text ?? "cat";
  const mode = chance.pick(["COSINE", "HYBRID"]);
  const body = { query, namespace, top_k: 20, mode };
  const results = resultsOf(await caller.call("POST /recall", { body }));
  const visible = results.map(({ id, text }) => `${id} ${text}`).sort();
  const meant = [...content.visible].map(([id, text]) => `${id} ${text}`).sort();
  if (visible.join("\n") === meant.join("\n")) return;
  throw new Error(`${namespace} shows\n${visible.join("\n")}\nand holds\n${meant.join("\n")}`);
};

const get: Do = async (step) => {
  const id = someId(step, 0.5);
  if (id === undefined) return;
  const { code, body } = await step.caller.get(step.namespace, id);
  const memory = step.content.memories.get(id);
  expectCode(`get of ${id}`, code, memory === undefined ? "not_found" : "ok");
  const text = (body.memory as { text: string } | undefined)?.text;
  if (text !== memory?.text) throw new Error(`${id} is ${text}`);
};

const count: Do = async ({ caller, namespace, content }) => {
  const { code, body } = await caller.call("POST /recalld.v1.MemoryService/CountMemories", {
    body: { namespace },
  });
  const { size } = content.visible;
  if (size === 0 && code === "not_found") return;
  expectCode(`count of ${namespace}`, code, "ok");
  if (body.memories !== size) throw new Error(`${namespace} counts ${body.memories} of ${size}`);
};

const WEIGHTS: readonly (readonly [Do, number])[] = [
  [store, 28],
  [storeBatch, 6],
  [update, 12],
  [expire, 2],
  [forget, 10],
  [forgetSeveral, 4],
  [forgetByFilter, 3],
  [drop, 3],
  [recall, 25],
  [get, 6],
  [count, 4],
];

/** Picks a memory of the namespace with this chance, otherwise any that ever was. */
function someId({ world, chance, content }: Step, ownChance: number): string | undefined {
  const own = [...content.memories.keys()];
  return chance.next() < ownChance && own.length > 0 ? chance.pick(own) : baitOf(world, chance)?.id;
}

function keepAsBait({ world }: Step, id: string | undefined, text: string): void {
  if (id === undefined) return;
  world.bait.push({ id, text });
  if (world.bait.length > 1000) world.bait.shift();
}

function baitOf({ bait }: World, chance: Chance): { id: string; text: string } | undefined {
  return bait.length === 0 ? undefined : chance.pick(bait);
}

function idIn(body: JsonObject): string | undefined {
  return body.id === undefined ? undefined : String(body.id);
}

function expectCode(what: string, code: string, expected: string): void {
  if (code !== expected) throw new Error(`${what} answered ${code} in place of ${expected}`);
}
