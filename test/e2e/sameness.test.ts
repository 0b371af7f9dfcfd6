import { AutoModel, AutoTokenizer, env } from "@xenova/transformers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { resultsOf, signUp } from "../support/caller.js";
import { chanceOf } from "../support/chance.js";
import { DATABASES } from "../support/databases.js";
import { ASKED, SAID } from "../support/sentences.js";

// Machines that run many tests at once are slow. A test that must be quick sets its own limit.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const TOP_K = 20;
const TIMEOUT_MS = 120_000;
const MODEL = new URL("../../models/bundled", import.meta.url).pathname;

/** A server's answer to a query, without ids and times. */
interface Answered {
  readonly text: string;
  readonly score: number;
  readonly metadata: unknown;
}

const answers = new Map<string, Answered[][]>();
const present = DATABASES.filter(({ missing }) => missing === undefined);

describe("the same memories and queries", () => {
  beforeAll(async () => {
    for (const { name, make } of present) answers.set(name, await ask(await make()));
  }, TIMEOUT_MS);

  it.skipIf(present.length < 2)("get the same answers from either database", () => {
    const [one, other] = [...answers.values()];
    expect(other).toEqual(one);
  });

  it("come back in the order of their scores, as many as were asked for", () => {
    for (const results of [...answers.values()].flat()) {
      expect(results).toHaveLength(TOP_K);
      const scores = results.map(({ score }) => score);
      expect(scores).toEqual([...scores].sort((a, b) => b - a));
    }
  });

  describe("held against the model itself", () => {
    let embed: (text: string) => Promise<number[]>;
    beforeAll(async () => {
      embed = await openModel();
    }, TIMEOUT_MS);
    afterAll(() => answers.clear());

    it(
      "get as scores the cosines that the model gives, to a thousandth",
      async () => {
        const vectors = new Map<string, number[]>();
        for (const text of SAID) vectors.set(text, await embed(text));
        for (const answered of answers.values()) {
          for (const [i, results] of answered.entries()) {
            const query = await embed(ASKED[i] as string);
            const cosines = SAID.map((text) => cosine(query, vectors.get(text) as number[]));
            for (const { text, score } of results) {
              const expected = Math.min(1, Math.max(0, cosines[SAID.indexOf(text)] as number));
              expect(Math.abs(score - expected)).toBeLessThan(1e-3);
            }
            // A nearer memory is not left out either.
            const best = cosines.sort((a, b) => b - a).slice(0, TOP_K);
            expect(
              Math.abs((results.at(-1)?.score as number) - Math.max(0, best.at(-1) as number)),
            ).toBeLessThan(1e-3);
          }
        }
      },
      TIMEOUT_MS,
    );
  });
});

async function ask(database: Awaited<ReturnType<(typeof DATABASES)[0]["make"]>>): Promise<Answered[][]> {
  const server = await database.start();
  const caller = await signUp(server.url);
  const chance = chanceOf(5);
  for (const text of SAID) {
    const { code } = await caller.store({ text, namespace: "n", metadata: chance.metadata() });
    expect(code).toBe("ok");
  }
  const answered: Answered[][] = [];
  for (const query of ASKED) {
    const results = resultsOf(await caller.recall(query, "n", TOP_K));
    answered.push(results.map(({ text, score, metadata }) => ({ text, score, metadata })));
  }
  await server.stop();
  return answered;
}

/** Opens the model with its library alone, and with rewritten arithmetic instead of the program's own. */
async function openModel(): Promise<(text: string) => Promise<number[]>> {
  env.allowRemoteModels = false;
  const tokenizer = await AutoTokenizer.from_pretrained(MODEL);
  const model = await AutoModel.from_pretrained(MODEL, { dtype: "q8" });
  return async (text) => {
    const output = await model(tokenizer(text));
    const states = output.last_hidden_state ?? output.token_embeddings;
    const [, tokens, dimensions] = states.dims as [number, number, number];
    const mean = Array.from({ length: dimensions }, (_, i) => {
      let sum = 0;
      for (let t = 0; t < tokens; t++) sum += states.data[t * dimensions + i] as number;
      return sum / tokens;
    });
    return mean;
  };
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, i) => sum + value * (y[i] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
