// A chat that remembers, by the TypeScript client: npx tsx examples/chat.ts
import { createInterface } from "node:readline";
import { Recalld } from "@recalld/client";
import { reply } from "./model.js";

const { RECALLD_API_KEY: apiKey = "", RECALLD_URL: baseUrl = "http://127.0.0.1:8080" } = process.env;
const { CHAT_USER: namespace = "ana" } = process.env;
const recalld = new Recalld({ apiKey, baseUrl });

for await (const said of createInterface({ input: process.stdin })) {
  // Words count beside meaning, and what does not fit the question is left out.
  const { results } = await recalld.recall({ namespace, query: said, mode: "HYBRID", minFit: 0.4 });
  const { say, remember } = reply(
    said,
    results.map(({ text }) => text),
  );
  if (remember !== undefined) await recalld.store({ namespace, text: remember });
  console.log(say);
}
