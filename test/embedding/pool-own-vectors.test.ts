import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { WorkerLostError } from "../../src/concurrency/worker-client.js";
import type { Encoded } from "../../src/embedding/encode/encoder.js";
import { MainThread } from "../../src/embedding/pool/main-thread.js";
import { type EmbedWorker, Pool } from "../../src/embedding/pool/pool.js";
import { type Chance, chanceOf } from "../support/chance.js";

const ROUNDS = 10;
const TEXTS = 40;
/** Words of the longest text that is read whole, and of the parts of longer ones. */
const [WHOLE, PART] = [4, 3];
const WORD = 6;

/** A vector that hardly any other text has. */
const vectorOf = (text: string) => Float32Array.of(Number.parseInt(text.replaceAll(" ", "").slice(0, 7), 36));

function encoded(text: string): Encoded {
  const words = text.split(" ");
  if (words.length <= WHOLE) return { tokens: words.length, vector: vectorOf(text) };
  const starts = Array.from({ length: Math.ceil(words.length / PART) }, (_, i) => i * PART * (WORD + 1));
  const parts = starts.map((start, i) => ({ start, end: (starts[i + 1] ?? text.length + 1) - 1 }));
  return { tokens: words.length, parts };
}

/** A model whose threads are lost now and then, and which takes its time for some texts. */
function modelOf({ next, pick }: Chance) {
  const embed = async (text: string) => {
    if (pick([true, false])) await sleep(3 * next());
    return encoded(text);
  };
  const start = async () => {
    await sleep(0);
    let lost: WorkerLostError | undefined;
    const worker: EmbedWorker = {
      onLost: () => {},
      msPerCost: 0.01,
      ended: Promise.resolve(),
      encode: async ({ text }) => {
        if (lost === undefined && next() < 0.03) {
          lost = new WorkerLostError("lost");
          worker.onLost(lost);
        }
        if (lost !== undefined) throw lost;
        return embed(text);
      },
      close: async () => {},
    };
    return worker;
  };
  const prepare = ({ text }: { text: string }) => ({ length: 1, run: () => embed(text) });
  return { start, encoder: { prepare, close: async () => {} } };
}

it.each([1, 2, 3, 4])(
  "a text gets its own vectors, whatever is broken off, cut or lost: seed %i",
  async (seed) => {
    const chance = chanceOf(seed);
    const { next, pick, below } = chance;
    const { start, encoder } = modelOf(chance);
    const answered = { whole: 0, cut: 0 };
    let running = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const startMainThread = async () => new MainThread(encoder, () => running <= 1);
      const pool = await Pool.open({ workers: 1 + below(3), start, startMainThread });
      const embed = async (signal: AbortSignal) => {
        const words = 1 + below(pick([WHOLE, WHOLE, WHOLE, 12]));
        const text = Array.from({ length: words }, () =>
          next()
            .toString(36)
            .padEnd(9, "0")
            .slice(2, 2 + WORD),
        ).join(" ");
        const [field, owner] = [pick(["query", "text"] as const), pick(["ada", "bob", "eve"])];
        running++;
        const embedding = pool.embed({ text, field, owner, signal }).finally(() => void running--);
        const { vectors, windows } = await embedding;
        answered[windows === undefined ? "whole" : "cut"]++;
        const parts = windows?.map((window) => text.slice(window.start, window.end)) ?? [text];
        expect(parts.join(" ")).toBe(text);
        expect([...vectors]).toEqual(parts.flatMap((part) => [...vectorOf(part)]));
      };
      const all = [];
      for (let i = 0; i < TEXTS; i++) {
        const leaving = new AbortController();
        const each = embed(leaving.signal).catch((error) => {
          // A text with which two threads were lost is given up.
          if (!leaving.signal.aborted && error.code !== "unavailable") throw error;
        });
        all.push(each);
        const leaves = pick(["now", "soon", "never", "never", "never"]);
        if (leaves === "now") leaving.abort(new Error("gone"));
        if (leaves === "soon") setTimeout(() => leaving.abort(new Error("gone")), 4 * next());
        const pause = pick(["none", "iteration", "time", "time"]);
        if (pause === "iteration") await new Promise((resolve) => setImmediate(resolve));
        if (pause === "time") await sleep(2 * next());
      }
      await Promise.all(all);
      await pool.close();
    }
    expect(Math.min(answered.whole, answered.cut)).toBeGreaterThan(20);
  },
);
