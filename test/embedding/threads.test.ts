import { once } from "node:events";
import { cp, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { expect, it, onTestFinished, vi } from "vitest";
import { PLAIN } from "../../src/embedding/encode/convention.js";
import { packageRoot } from "../../src/embedding/models/locate.js";
import { openEmbedder, startThread } from "./built.js";

// Threads start and end here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

const BUNDLED = join(packageRoot(), "models", "bundled");
/** Text that fills the model's window, which takes tens of milliseconds to run. */
const LONG = "tea ".repeat(254);
/**
 * Text that keeps a thread in JavaScript for tens of milliseconds, counting tokens. There it can be killed by
 * force, which would abort this process inside a run.
 */
const MANY_TOKENS = ".".repeat(20_000);

/** Watches the threads that the program starts during this test. */
function watchThreads() {
  const threads: Worker[] = [];
  let ended = 0;
  const onWorker = (worker: Worker) => {
    threads.push(worker);
    worker.once("exit", () => ended++);
  };
  process.on("worker", onWorker);
  onTestFinished(() => void process.off("worker", onWorker));
  return { threads, running: () => threads.length - ended };
}

async function open(options: Partial<Parameters<typeof openEmbedder>[0]> = {}) {
  const embedder = await openEmbedder({ model: "bundled", modelsDir: "/nowhere", workers: 1, ...options });
  onTestFinished(() => embedder.close());
  return embedder;
}

/** Copies the bundled model, so that a test may damage it. */
async function copyModel() {
  const modelsDir = await mkdtemp(join(tmpdir(), "models-"));
  onTestFinished(() => rm(modelsDir, { recursive: true }));
  const folder = join(modelsDir, "some", "model");
  await cp(BUNDLED, folder, { recursive: true });
  return { folder, source: { model: "some/model", modelsDir } };
}

it("a thread killed while it reads is replaced, and its text answered all the same", async () => {
  const { threads } = watchThreads();
  const onTrouble = vi.fn();
  const embedder = await open({ onTrouble });
  const disturbed = embedder.embed({ text: MANY_TOKENS, field: "text", owner: "acc" });
  const behind = embedder.embed({ text: "tea", field: "text", owner: "acc" });
  await sleep(5);
  await threads[0]?.terminate();
  expect((await disturbed).tokens).toBe(20_000);
  expect((await behind).tokens).toBe(1);
  expect(threads).toHaveLength(2);
  expect(onTrouble.mock.calls[0]?.[0].message).toContain("the embedding thread was lost");
});

it("a text whose thread is killed twice is unavailable, and others are read again", async () => {
  const { threads } = watchThreads();
  const embedder = await open();
  const disturbed = embedder.embed({ text: MANY_TOKENS, field: "text", owner: "acc" });
  disturbed.catch(() => {});
  await sleep(5);
  await threads[0]?.terminate();
  await once(threads[1] as Worker, "message");
  await sleep(5);
  await threads[1]?.terminate();
  await expect(disturbed).rejects.toMatchObject({ code: "unavailable" });
  expect((await embedder.embed({ text: "tea", field: "text", owner: "acc" })).tokens).toBe(1);
});

it("closing finishes the text being read and ends every thread", async () => {
  const { running } = watchThreads();
  const embedder = await open({ workers: 2 });
  expect(running()).toBe(2);
  const reading = embedder.embed({ text: LONG, field: "text", owner: "acc" });
  await embedder.close();
  expect((await reading).tokens).toBe(254);
  expect(running()).toBe(0);
  await expect(embedder.embed({ text: "tea", field: "text", owner: "acc" })).rejects.toMatchObject({
    code: "unavailable",
  });
});

it("a thread that takes too long is lost, says why, and ends when it can", async () => {
  const { running } = watchThreads();
  const { thread } = await startThread({ folder: BUNDLED, convention: PLAIN }, 1);
  const onLost = vi.fn();
  thread.onLost = onLost;
  await expect(thread.encode({ text: LONG, field: "text" })).rejects.toThrow("did not answer within 1 ms");
  expect(onLost).toHaveBeenCalledOnce();
  expect(running()).toBe(1);
  await thread.ended;
  expect(running()).toBe(0);
  await expect(thread.encode({ text: "tea", field: "text" })).rejects.toThrow("did not answer within 1 ms");
});

it("threads that come and go under load do not take the process with them", async () => {
  for (let round = 0; round < 5; round++) {
    const embedder = await open({ workers: 3 });
    const texts = Array.from({ length: 40 }, (_, i) => "word ".repeat(1 + i * 3));
    const results = Promise.allSettled(
      texts.map((text) => embedder.embed({ text, field: "text", owner: "acc" })),
    );
    await sleep(round * 20);
    await embedder.close();
    for (const result of await results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "unavailable" });
    }
  }
});

it("a model file that is cut off stops the start, with the model, the folder and the reason", async () => {
  const { running } = watchThreads();
  const { folder, source } = await copyModel();
  await truncate(join(folder, "onnx", "model_quantized.onnx"), 1_000_000);
  const error = await openEmbedder({ ...source, workers: 2 }).catch((reason) => reason);
  expect(error).toMatchObject({ name: "MemoryError", code: "failed_precondition" });
  expect(error.message).toContain(`model some/model in ${folder} could not be loaded: `);
  expect(error.message).toMatch(/protobuf/i);
  await vi.waitFor(() => expect(running()).toBe(0));
});

it("a replacement that finds other files than the first thread did is not used", async () => {
  const { threads } = watchThreads();
  const { folder, source } = await copyModel();
  const onTrouble = vi.fn();
  const embedder = await open({ ...source, onTrouble });
  await writeFile(
    join(folder, "tokenizer_config.json"),
    '{"tokenizer_class":"BertTokenizer","model_max_length":256}',
  );
  const reading = embedder.embed({ text: MANY_TOKENS, field: "text", owner: "acc" });
  reading.catch(() => {});
  await sleep(5);
  await threads[0]?.terminate();
  await expect(reading).rejects.toMatchObject({ code: "unavailable" });
  expect(onTrouble.mock.lastCall?.[0].message).toContain("have changed since the start");
});
