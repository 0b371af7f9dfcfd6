// A chat that remembers, by plain HTTP: npx tsx examples/chat-http.ts
import { createInterface } from "node:readline";
import { reply } from "./model.js";

const { RECALLD_API_KEY: key = "", RECALLD_URL: url = "http://127.0.0.1:8080" } = process.env;
const { CHAT_USER: namespace = "ana" } = process.env;

/** Calls recalld. A store that is tried again under the same Idempotency-Key is stored once. */
async function call<Answer>(path: string, request: object): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "idempotency-key": crypto.randomUUID(),
  };
  const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(request) });
  if (!answer.ok) throw new Error(`${path}: HTTP ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

for await (const said of createInterface({ input: process.stdin })) {
  const question = { namespace, query: said, mode: "HYBRID", min_fit: 0.4 };
  const { results } = await call<{ results: { text: string }[] }>("/recall", question);
  const { say, remember } = reply(
    said,
    results.map(({ text }) => text),
  );
  if (remember !== undefined) await call("/store", { namespace, text: remember });
  console.log(say);
}
