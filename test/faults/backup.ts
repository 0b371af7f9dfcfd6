import { join } from "node:path";
import { admin } from "../support/admin.js";
import { type Caller, signUp } from "../support/caller.js";
import { type Chance, chanceOf } from "../support/chance.js";
import { newDataDir, startServer } from "../support/server.js";
import { expectGot, expectRecalled, inParallel, type StoredMemory, storedMemoryOf } from "./load.js";

const NAMESPACES = 3;
const WORKERS = 6;
/** Number of the backup's memories to recall. A recall for each would take as long as their stores. */
const RECALLED_MAX = 200;

/** A memory, and the times by this process's clock at which it was stored and forgotten. */
interface Life {
  readonly askedMs: number;
  readonly kept: StoredMemory;
  readonly storedMs: number;
  forgetAskedMs?: number;
  forgottenMs?: number;
}

export interface BackedUp {
  readonly memories: number;
  readonly forgotten: number;
  readonly bytes: number;
  readonly ms: number;
  /** Number of stores that were answered during the backup. */
  readonly meanwhile: number;
}

/**
 * Takes a backup under load, restores it into an empty folder and reads everything back there.
 *
 * @throws Error when a memory is missing that was acknowledged before the backup began, or one exists that
 * was forgotten before.
 */
export async function backUpUnderLoad({
  memories,
  seed,
}: {
  memories: number;
  seed: number;
}): Promise<BackedUp> {
  const env = { FREE_CALLS: "1000000000" };
  const server = await startServer({ env });
  const folder = join(newDataDir(), "backup");
  const load = startLoad([await signUp(server.url), await signUp(server.url)], chanceOf(seed));
  await load.until(memories);
  const begunMs = performance.now();
  const taken = await admin({ DATA_DIR: server.dataDir }, "backup", folder, "--json");
  const endedMs = performance.now();
  if (taken.code !== 0) throw new Error(taken.stderr);
  await load.until(memories + Math.ceil(memories / 10));
  await load.stop();
  await server.stop();

  const dataDir = newDataDir();
  const restored = await admin({ DATA_DIR: dataDir }, "restore", folder, "--json");
  if (restored.code !== 0) throw new Error(restored.stdout + restored.stderr);
  const manifest = JSON.parse(taken.stdout);
  const verified = JSON.parse((await admin({ DATA_DIR: dataDir }, "verify", "--json")).stdout);
  if (verified.memories !== manifest.counts.memories) throw new Error("verify counts other memories");
  const there = await expectAsOf(load.lives, { dataDir, begunMs, endedMs });
  const meanwhile = load.lives.filter(({ storedMs }) => storedMs > begunMs && storedMs < endedMs).length;
  return { ...there, bytes: manifest.file.bytes, ms: Math.round(endedMs - begunMs), meanwhile };
}

/** Reads everything back from a server on the restored folder. */
async function expectAsOf(
  lives: readonly Life[],
  { dataDir, begunMs, endedMs }: { dataDir: string; begunMs: number; endedMs: number },
): Promise<{ memories: number; forgotten: number }> {
  const { url, stop } = await startServer({ dataDir, env: { FREE_CALLS: "1000000000" } });
  const before = lives.filter(({ storedMs }) => storedMs < begunMs);
  const kept = before.filter(({ forgetAskedMs = Number.POSITIVE_INFINITY }) => forgetAskedMs > endedMs);
  const forgotten = before.filter(({ forgottenMs = Number.POSITIVE_INFINITY }) => forgottenMs < begunMs);
  const later = lives.filter(({ askedMs }) => askedMs > endedMs);
  await each(kept, ({ kept }) => expectGot(kept, url));
  await each(kept.slice(0, RECALLED_MAX), ({ kept }) => expectRecalled(kept, url));
  await each([...forgotten, ...later], async ({ kept: { caller, sent, id } }) => {
    const { code } = await caller.at(url).get(sent.namespace, id);
    if (code !== "not_found") throw new Error(`${id} should not be in the backup: ${code}`);
  });
  await stop();
  return { memories: kept.length, forgotten: forgotten.length };
}

function each(lives: readonly Life[], work: (life: Life) => Promise<void>): Promise<void> {
  return inParallel({ times: lives.length, parallel: WORKERS }, (i) => work(lives[i] as Life));
}

/** Stores, forgets and recalls until it is stopped. */
function startLoad(callers: readonly Caller[], chance: Chance) {
  const lives: Life[] = [];
  let stopped = false;
  const failed: unknown[] = [];
  const run = async () => {
    while (!stopped) await step(callers[chance.below(callers.length)] as Caller, { lives, chance });
  };
  const running = Promise.all(Array.from({ length: WORKERS }, run)).catch((error) => void failed.push(error));
  const until = async (count: number) => {
    while (lives.length < count && failed.length === 0) await new Promise((done) => setTimeout(done, 20));
    if (failed.length > 0) throw failed[0];
  };
  const stop = async () => {
    stopped = true;
    await running;
    if (failed.length > 0) throw failed[0];
  };
  return { lives, until, stop };
}

async function step(caller: Caller, { lives, chance }: { lives: Life[]; chance: Chance }): Promise<void> {
  const dice = chance.below(10);
  const life = lives[chance.below(Math.max(1, lives.length))];
  if (dice < 7 || life === undefined) return store(caller, { lives, chance });
  if (dice < 9) return forget(life);
  const { code, message } = await caller.recall("what was it about", `n${chance.below(NAMESPACES)}`);
  if (code !== "ok") throw new Error(`recall: ${code}, ${message}`);
}

async function store(caller: Caller, { lives, chance }: { lives: Life[]; chance: Chance }): Promise<void> {
  const askedMs = performance.now();
  const namespace = `n${chance.below(NAMESPACES)}`;
  const sent = { text: chance.text(), namespace, metadata: chance.metadata() };
  const outcome = await caller.store(sent);
  if (outcome.code !== "ok") throw new Error(`store: ${outcome.code}, ${outcome.message}`);
  lives.push({ askedMs, kept: storedMemoryOf(caller, sent, outcome), storedMs: performance.now() });
}

async function forget(life: Life): Promise<void> {
  if (life.forgetAskedMs !== undefined) return;
  life.forgetAskedMs = performance.now();
  const { caller, sent, id } = life.kept;
  const { code, message } = await caller.forget(sent.namespace, id);
  if (code !== "ok") throw new Error(`forget: ${code}, ${message}`);
  life.forgottenMs = performance.now();
}
