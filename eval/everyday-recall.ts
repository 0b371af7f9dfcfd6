import { readFileSync } from "node:fs";
import { signUp } from "../test/support/caller.js";
import { connect, overHttp, startSession, type Tools } from "../test/support/mcp.js";
import { newDataDir, type TestServer } from "../test/support/server.js";
import { inParallel } from "./in-parallel.js";

/** Ways to recall. Each must find the same. */
export const WAYS = ["memory_recall over HTTP", "memory_recall over stdio", "API, HYBRID"] as const;

const RESULTS = 5;

export interface Fact {
  readonly fact: string;
  readonly question: string;
}

/** One sentence for each combination of the words. */
interface Template {
  readonly text: string;
  readonly with: Readonly<Record<string, readonly string[]>>;
}

export interface Everyday {
  readonly facts: readonly Fact[];
  /** Memories about other things, in which the facts must be found. */
  readonly others: readonly string[];
}

/** The first results of a question, by each of `WAYS`. */
export interface Answers extends Fact {
  readonly found: readonly (readonly string[])[];
}

export function readEveryday(): Everyday {
  const path = new URL("./everyday.json", import.meta.url);
  const { facts, others } = JSON.parse(readFileSync(path, "utf8")) as {
    facts: Fact[];
    others: Template[];
  };
  return { facts, others: others.flatMap(sentencesOf) };
}

/** Stores everything in a new account of the server, and asks each question in each way. */
export async function askEveryday({ url }: TestServer, { facts, others }: Everyday): Promise<Answers[]> {
  const { key, store, call } = await signUp(url);
  const namespace = "everyday";
  const texts = [...facts.map(({ fact }) => fact), ...others];
  await inParallel(
    texts,
    async (text) => {
      const { code } = await store({ namespace, text });
      if (code !== "ok") throw new Error(`a store was answered with ${code}`);
    },
    () => {},
  );
  const byHttp = await connect(overHttp({ url, key }));
  const byStdio = await startSession({ HOME: newDataDir(), RECALLD_URL: url, RECALLD_API_KEY: key });
  const byTool = async ({ call }: Tools, query: string) => {
    const { data } = await call("memory_recall", { query, namespace, top_k: RESULTS });
    return textsOf(data.memories);
  };
  const answers: Answers[] = [];
  for (const { fact, question } of facts) {
    const body = { namespace, query: question, mode: "HYBRID", top_k: RESULTS };
    const byApi = textsOf((await call("POST /recall", { body })).body.results);
    const found = [await byTool(byHttp, question), await byTool(byStdio, question), byApi];
    answers.push({ fact, question, found });
  }
  await Promise.all([byHttp.client.close(), byStdio.client.close()]);
  return answers;
}

function textsOf(memories: unknown): string[] {
  return (memories as { text: string }[]).map(({ text }) => text);
}

function sentencesOf({ text, with: words }: Template): string[] {
  return Object.entries(words).reduce<string[]>(
    (made, [name, values]) => made.flatMap((each) => values.map((value) => each.replace(`{${name}}`, value))),
    [text],
  );
}
