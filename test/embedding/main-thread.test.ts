import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openEmbedder } from "./built.js";
import { toyModel } from "./toy-models.js";

// Threads start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

/** On a very busy machine even a tiny model may seem too slow for the main thread. */
const AGAIN = { retry: 5 };

const MODELS_DIR = process.env.MODELS_DIR;

const WORDS = "tea coffee Lisbon naïve 漢字 😀 x9f3 “quoted” bank-note 42,000 I'm e\u0301 don't ok".split(
  " ",
);
/** Texts of 1 to 40 words. */
const TEXTS = Array.from({ length: 200 }, (_, i) =>
  Array.from({ length: 1 + (i % 40) }, (_, j) => WORDS[(i * 7 + j * j) % WORDS.length]).join(" "),
);

type Options = Partial<Parameters<typeof openEmbedder>[0]>;

async function open(options: Options = {}) {
  const embedder = await openEmbedder({ model: "bundled", modelsDir: "/nowhere", workers: 1, ...options });
  onTestFinished(() => embedder.close());
  const threads = { main: 0, worker: 0 };
  const embed = async (text: string) => {
    let read: "main" | "worker" | undefined;
    const onBegin = (thread: "main" | "worker") => {
      read = thread;
      threads[thread]++;
    };
    const { vectors } = await embedder.embed({ text, field: "text", owner: "acc", onBegin });
    return { vectors, read };
  };
  return { embed, threads };
}

describe.each([
  ["the bundled model", {}, true],
  ["MiniLM", { model: "Xenova/all-MiniLM-L6-v2", modelsDir: MODELS_DIR ?? "" }, MODELS_DIR !== undefined],
])("%s", (_name, source, isThere) => {
  it.skipIf(!isThere)(
    "gives a text the same vector in the main thread as in a thread, bit for bit",
    async () => {
      let alone = true;
      const { embed, threads } = await open({ ...source, isAlone: () => alone });
      for (const text of TEXTS) {
        alone = true;
        const here = await embed(text);
        alone = false;
        const there = await embed(text);
        expect(there.read).toBe("worker");
        expect(Buffer.from(here.vectors.buffer).equals(Buffer.from(there.vectors.buffer))).toBe(true);
      }
      expect(threads.worker).toBeGreaterThanOrEqual(TEXTS.length);
    },
  );
});

describe("a tiny model", () => {
  it("is read in the main thread while the caller is alone", AGAIN, async () => {
    const { source } = await toyModel();
    const { embed, threads } = await open({ ...source, isAlone: () => true });
    for (const text of ["train", "ticket", "station"]) await embed(text);
    expect(threads).toEqual({ main: 3, worker: 0 });
    await Promise.all(["train", "ticket"].map(embed));
    expect(threads).toEqual({ main: 3, worker: 2 });
  });

  it("is in threads only, if nothing tells whether a caller is alone", async () => {
    const { source } = await toyModel();
    const { embed, threads } = await open(source);
    await embed("train");
    expect(threads).toEqual({ main: 0, worker: 1 });
  });

  it("whose files change while it starts is refused", AGAIN, async () => {
    const { source, folder } = await toyModel();
    const changed = join(folder, "tokenizer_config.json");
    const onWorker = (worker: Worker) => {
      worker.once("message", () => writeFileSync(changed, '{"model_max_length": 32}'));
    };
    process.on("worker", onWorker);
    onTestFinished(() => void process.off("worker", onWorker));
    await expect(open({ ...source, isAlone: () => true })).rejects.toThrow("have changed since the start");
  });
});
