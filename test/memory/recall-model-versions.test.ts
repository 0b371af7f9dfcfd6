import { afterEach, beforeEach, expect, it } from "vitest";
import type { OpenModel } from "../../src/memory/models/model-versions.js";
import { recall } from "../../src/memory/operations/recall.js";
import { aMemory } from "../contract/samples.js";
import { CALLER, DIMENSIONS, scopeOf, TestService } from "./domain.js";
import { modelOf, modelVersionsOf } from "./models.js";

let service: TestService;
beforeEach(async () => {
  service = await TestService.open();
});
afterEach(() => service.close());

/** Makes a vector of one axis. */
const axis = (at: number) => Array.from({ length: DIMENSIONS }, (_, i) => Number(i === at));

/** Makes a model that notes the texts it embeds. */
function noting(at: number, id: string): OpenModel & { readonly texts: string[] } {
  const texts: string[] = [];
  const model = modelOf(axis(at), id);
  return {
    ...model,
    texts,
    close: async () => {},
    embed: async (input) => {
      texts.push(input.text);
      return model.embed(input);
    },
  };
}

it("a recall of namespaces of two models embeds its query once by each, and orders all by score", async () => {
  const [old, now] = [noting(0, "old"), noting(1, "now")];
  const modelVersions = modelVersionsOf(now, {
    before: [{ modelVersion: "", model: old.model }],
    openModel: async () => old,
  });
  const domain = service.domain({ modelVersions });
  const { log, names } = service.storage;
  const near = (at: number, share: number) =>
    Float32Array.from(axis(at), (value, i) => value * share + Number(i === 5) * Math.sqrt(1 - share ** 2));
  for (const [name, modelVersion, vectors] of [
    ["old", "", near(0, 0.9)],
    ["now", "e1", near(1, 0.8)],
    ["also now", "e1", near(1, 0.7)],
    ["also old", "", near(0, 0.6)],
  ] as const) {
    const logId = await names.create(scopeOf(name), modelVersion);
    await log.append({ logId, from: 1, entries: [aMemory({ text: name, vectors })] });
  }
  const ports = { ...domain.ports, idempotency: undefined as never };
  const asked = { caller: CALLER, namespace: "old", alsoIn: ["now", "also now", "also old"] };
  const { results } = await recall(ports, { ...asked, query: "who?" });
  const told = results.map(({ namespace, score }) => [namespace, Number(score.toFixed(3))]);
  expect(told).toEqual([
    ["old", 0.9],
    ["now", 0.8],
    ["also now", 0.7],
    ["also old", 0.6],
  ]);
  expect([old.texts, now.texts]).toEqual([["who?"], ["who?"]]);

  // A stored memory is compared by its own vectors, and read only where those are of another model.
  const [first] = results;
  const likeId = "mem_01jdh2zz00e00r000000000000";
  const logId = (await names.find(scopeOf("now"))) as string;
  await log.append({
    logId,
    from: 2,
    entries: [aMemory({ id: likeId, text: "like me", vectors: near(1, 1) })],
  });
  const like = await recall(ports, { ...asked, namespace: "now", alsoIn: ["also now", "old"], likeId });
  expect(like.results.map(({ namespace }) => namespace)).toEqual(["old", "now", "also now"]);
  expect([first?.entry.text, like.queryTokens]).toEqual(["old", 0]);
  expect([old.texts, now.texts]).toEqual([["who?", "like me"], ["who?"]]);
});
