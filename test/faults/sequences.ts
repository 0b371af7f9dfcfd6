import { type Caller, resultsOf, signUp } from "../support/caller.js";
import { type Chance, chanceOf } from "../support/chance.js";

const ACCOUNTS = 4;
const NAMESPACES = ["home", "work", "a/b:c%"];
const STEPS = 8;
/** Maximum memories of a namespace. A recall shows 20, so it shows all of them. */
const MEMORIES_MAX = 20;

export interface SequenceOptions {
  readonly urls: readonly string[];
  readonly sequences: number;
  readonly seed: number;
}

export interface SequenceFigures {
  readonly sequences: number;
  readonly operations: number;
  readonly recalls: number;
}

/** Expected content of an account's namespaces: text by id. */
type Model = ReadonlyMap<string, Map<string, string>>;

interface World {
  readonly urls: readonly string[];
  /** Ids and texts of all accounts, existing or deleted, as bait for leaks. */
  readonly bait: { id: string; text: string }[];
  readonly figures: { sequences: number; operations: number; recalls: number };
}

/**
 * Runs random sequences of store, delete, drop, recall and get by several accounts at once, each on any
 * server, and compares each step with a simple model.
 *
 * @throws Error naming what was missing, too much or another account's.
 */
export async function randomSequences({ urls, sequences, seed }: SequenceOptions): Promise<SequenceFigures> {
  const world: World = { urls, bait: [], figures: { sequences: 0, operations: 0, recalls: 0 } };
  const run = async (account: number) => {
    const chance = chanceOf(seed * ACCOUNTS + account);
    const caller = await signUp(urls[0] as string);
    const model: Model = new Map(NAMESPACES.map((name) => [name, new Map()]));
    while (world.figures.sequences < sequences) {
      world.figures.sequences++;
      for (let step = 0; step < STEPS; step++) {
        world.figures.operations++;
        await takeStep({ world, chance, model, caller: caller.at(chance.pick(urls)) });
      }
    }
  };
  await Promise.all(Array.from({ length: ACCOUNTS }, (_, account) => run(account)));
  return world.figures;
}

interface Step {
  readonly world: World;
  readonly chance: Chance;
  readonly model: Model;
  readonly caller: Caller;
}

async function takeStep(step: Step): Promise<void> {
  const { chance, model } = step;
  const namespace = chance.pick(NAMESPACES);
  const memories = model.get(namespace) as Map<string, string>;
  const kind = chance.next();
  if (memories.size >= MEMORIES_MAX || kind < 0.04) await drop(step, namespace, memories);
  else if (kind < 0.44) await store(step, namespace, memories);
  else if (kind < 0.6) await forget(step, namespace, memories);
  else if (kind < 0.9) await recall(step, namespace, memories);
  else await get(step, namespace, memories);
}

type Do = (step: Step, namespace: string, memories: Map<string, string>) => Promise<void>;

const store: Do = async ({ world, chance, caller }, namespace, memories) => {
  const text = chance.text();
  const { code, message, body } = await caller.store({ text, namespace });
  if (code !== "ok") throw new Error(`store: ${code}, ${message}`);
  memories.set(String(body.id), text);
  world.bait.push({ id: String(body.id), text });
  if (world.bait.length > 1000) world.bait.shift();
};

const forget: Do = async ({ world, chance, caller }, namespace, memories) => {
  const mine = [...memories.keys()];
  const id = chance.next() < 0.7 && mine.length > 0 ? chance.pick(mine) : baitOf(world, chance)?.id;
  if (id === undefined) return;
  const { code } = await caller.forget(namespace, id);
  expectCode(`delete of ${id}`, code, memories.delete(id) ? "ok" : "not_found");
};

const drop: Do = async ({ caller }, namespace, memories) => {
  const { code, body } = await caller.drop(namespace);
  // An existing namespace may be empty. The model does not tell whether it exists.
  if (memories.size === 0 && code === "not_found") return;
  expectCode(`drop of ${namespace}`, code, "ok");
  if (body.deleted !== memories.size) throw new Error(`drop answered ${body.deleted} of ${memories.size}`);
  memories.clear();
};

const recall: Do = async ({ world, chance, caller }, namespace, memories) => {
  world.figures.recalls++;
  const query = baitOf(world, chance)?.text ?? "cat";
  const results = resultsOf(await caller.recall(query, namespace, 20));
  const shown = results.map(({ id, text }) => `${id} ${text}`).sort();
  const meant = [...memories].map(([id, text]) => `${id} ${text}`).sort();
  if (shown.join("\n") === meant.join("\n")) return;
  throw new Error(`${namespace} shows\n${shown.join("\n")}\nand holds\n${meant.join("\n")}`);
};

const get: Do = async ({ world, chance, caller }, namespace, memories) => {
  const mine = [...memories.keys()];
  const id = chance.next() < 0.5 && mine.length > 0 ? chance.pick(mine) : baitOf(world, chance)?.id;
  if (id === undefined) return;
  const { code, body } = await caller.get(namespace, id);
  expectCode(`get of ${id}`, code, memories.has(id) ? "ok" : "not_found");
  const text = (body.memory as { text: string } | undefined)?.text;
  if (text !== memories.get(id)) throw new Error(`${id} is ${text}`);
};

function baitOf({ bait }: World, chance: Chance): { id: string; text: string } | undefined {
  return bait.length === 0 ? undefined : chance.pick(bait);
}

function expectCode(what: string, code: string, expected: string): void {
  if (code !== expected) throw new Error(`${what} answered ${code} in place of ${expected}`);
}
