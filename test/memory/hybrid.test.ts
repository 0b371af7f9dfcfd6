import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deleteMemory } from "../../src/memory/operations/delete-memory.js";
import { deleteNamespace } from "../../src/memory/operations/delete-namespace.js";
import { recall } from "../../src/memory/operations/recall.js";
import { aMemory } from "../contract/samples.js";
import { type Chance, chanceOf } from "../support/chance.js";
import { QUICK, quickly } from "../support/quick.js";
import { CALLER, type Domain, TestService } from "./domain.js";
import { HybridModel } from "./hybrid-model.js";
import { modelVersionsOf } from "./models.js";
import { TOY_DIMENSIONS, toyEmbedder, toyEmbedding } from "./toy-embedder.js";
import { unsavedIndexes } from "./unsaved-indexes.js";

/** Number of random sequences; set it higher after a change to what orders results. */
const SEQUENCES = Number(process.env.HYBRID_SEQUENCES ?? (QUICK ? 3 : 10));
const STEPS = 60;
const VOCABULARY = "ana moved berlin friday meeting peanuts allergic budget train coffee garden piano".split(
  " ",
);

let service: TestService;
beforeEach(async () => {
  // Nothing is sealed: the domains of one service share their folder.
  service = await TestService.open({ dimensions: TOY_DIMENSIONS, tailRowsMax: Number.MAX_SAFE_INTEGER });
});
afterEach(() => service.close());

const newDomain = ({ indexes } = unsavedIndexes({}, { vectors: service.vectors })) =>
  service.domain({ modelVersions: modelVersionsOf(toyEmbedder), indexes });

let stored = 0;
/** Appends a memory; returns its id. */
async function store(domain: Domain, namespace: string, text: string): Promise<string> {
  const id = `mem_${String(++stored).padStart(26, "0")}`;
  await domain.append(namespace, aMemory({ id, opId: id, text, ...toyEmbedding(text) }));
  return id;
}

interface Asked {
  readonly namespace: string;
  readonly query: string;
  readonly topK?: number;
  readonly minScore?: number;
}

async function recallBoth(domain: Domain, { namespace, query, topK = 20, minScore }: Asked) {
  const ports = { ...domain.ports, idempotency: undefined as never };
  const asked = { query, namespace, topK, minScore, mode: "hybrid", explain: true } as const;
  const request = { caller: CALLER, ...asked };
  const { results } = await recall(ports, request);
  return results.map(({ entry, score, words, explanation }) => {
    return { text: entry.text, score, words, rank: explanation?.rank as number };
  });
}

/** Makes a query of common words, and sometimes of a word that one text has, or none. */
function queryOf(chance: Chance, texts: readonly string[]): string {
  const words = Array.from({ length: 1 + chance.below(4) }, () => chance.pick(VOCABULARY));
  const rare =
    chance
      .pick(["", "zebra", ...texts])
      .split(" ")
      .at(-1) ?? "";
  return [...words, rare].join(" ").trim();
}

/** Makes a text of common words and one that no other text has, sometimes with several windows. */
function textOf(chance: Chance, unique: string): string {
  const words = Array.from({ length: 1 + chance.below(chance.next() < 0.2 ? 24 : 6) }, () =>
    chance.pick(VOCABULARY),
  );
  return [...words, unique].join(" ");
}

describe("a recall by meaning and words", () => {
  it(`answers what a model answers, on either replica, in ${SEQUENCES} random sequences`, {
    timeout: 600_000,
  }, async () => {
    for (let seed = 1; seed <= SEQUENCES; seed++) await runSequence(seed);
  });

  quickly("finds a memory by its words at the very next recall, on any replica", async () => {
    const [one, other] = [newDomain(), newDomain()];
    for (let i = 0; i < 30; i++) {
      await store(i % 2 ? one : other, "a", `the code word is zebra${i}`);
      for (const domain of [one, other]) {
        const [first] = await recallBoth(domain, { namespace: "a", query: `zebra${i}` });
        expect(first).toMatchObject({ text: `the code word is zebra${i}` });
        expect(first?.words).toBeGreaterThan(0);
      }
    }
  });

  quickly("does not read the log again for words that it was handed", async () => {
    const domain = newDomain();
    await store(domain, "a", "ana moved to berlin");
    await recallBoth(domain, { namespace: "a", query: "ana" });
    const read = domain.log.read.bind(domain.log);
    const parts: string[] = [];
    let entries = 0;
    Object.assign(domain.log, {
      read: async (range: Parameters<typeof read>[0]) => {
        parts.push(range.projection);
        const tail = await read(range);
        entries += tail.entries.length;
        return tail;
      },
    });
    await store(domain, "a", "ana likes coffee");
    await recallBoth(domain, { namespace: "a", query: "coffee" });
    expect(parts.length).toBeGreaterThan(0);
    expect(parts).toEqual(parts.map(() => "all"));
    expect(entries).toBe(0);
  });

  quickly("answers nothing in a namespace that does not exist, or is empty again", async () => {
    const domain = newDomain();
    expect(await recallBoth(domain, { namespace: "none", query: "ana" })).toEqual([]);
    const id = await store(domain, "a", "ana");
    expect(await recallBoth(domain, { namespace: "a", query: "ana" })).toHaveLength(1);
    await deleteMemory(domain.ports, { caller: CALLER, namespace: "a", id });
    expect(await recallBoth(domain, { namespace: "a", query: "ana" })).toEqual([]);
  });

  quickly("builds the indexes anew after one has failed", async () => {
    const failures = [new Error("the index is broken")];
    const { indexes } = unsavedIndexes({}, { vectors: service.vectors });
    const failing = unsavedIndexes(
      {
        searchWords: (searched, query) => {
          const failure = failures.pop();
          return failure === undefined ? indexes.searchWords(searched, query) : Promise.reject(failure);
        },
      },
      { vectors: service.vectors },
    );
    const domain = newDomain(failing);
    await store(domain, "a", "ana moved to berlin");
    const asked = { namespace: "a", query: "ana" };
    await expect(recallBoth(domain, asked)).rejects.toMatchObject({ code: "unavailable" });
    expect(await recallBoth(domain, asked)).toHaveLength(1);
    expect(failing.opened.map(({ closed }) => closed)).toEqual([1, 0]);
  });

  quickly("closes the index with its namespace, and erases its files when it is dropped", async () => {
    const made = unsavedIndexes({}, { vectors: service.vectors });
    const domain = newDomain(made);
    await store(domain, "a", "ana moved to berlin");
    const logId = made.opened[0]?.logId as string;
    made.discarded.length = 0;
    await deleteNamespace(domain.ports, { caller: CALLER, namespace: "a", force: true });
    await domain.namespaces.close();
    expect(made.opened[0]?.closed).toBe(1);
    expect(made.discarded).toContain(logId);
  });

  quickly("counts words and fields within the budget of the indexes", async () => {
    const bytesOf = async (text: string) => {
      const domain = newDomain();
      const namespace = `of ${text.length}`;
      await store(domain, namespace, text);
      return domain.namespaces.open.measure().bytes;
    };
    const many = Array.from({ length: 200 }, (_, i) => `word${i}`).join(" ");
    expect(await bytesOf(many)).toBeGreaterThan((await bytesOf("ana")) + 200 * 8);
  });
});

/** Runs one sequence of calls on two replicas, and compares every recall with the model. */
async function runSequence(seed: number): Promise<void> {
  const chance = chanceOf(seed);
  const domains = [newDomain(), newDomain()];
  const namespace = `n${seed}`;
  const model = new HybridModel();
  const ids = new Map<string, string>();
  const [storing, deleting] = chance.pick([
    [0.5, 0.65],
    [0.8, 0.85],
  ] as const);
  for (let step = 0; step < STEPS; step++) {
    const domain = chance.pick(domains);
    const kind = chance.next();
    if (kind < storing) {
      for (let i = chance.below(4); i >= 0; i--) {
        const text = textOf(chance, `unique${seed}x${step}x${i}`);
        ids.set(text, await store(domain, namespace, text));
        model.texts.push(text);
      }
    } else if (kind < deleting && model.texts.length > 0) {
      const text = chance.pick(model.texts);
      await deleteMemory(domain.ports, { caller: CALLER, namespace, id: ids.get(text) as string });
      model.texts = model.texts.filter((each) => each !== text);
    } else if (kind < deleting + 0.01 && model.texts.length > 0) {
      await deleteNamespace(domain.ports, { caller: CALLER, namespace, force: true });
      model.texts = [];
    } else {
      const topK = chance.pick([1, 5, 20]);
      const query = queryOf(chance, model.texts);
      const minScore = chance.pick([undefined, 0.1234567, 0.4321, 0.7654321]);
      expectLike(
        await recallBoth(domain, { namespace, query, topK, ...(minScore !== undefined && { minScore }) }),
        model.recall(query, topK, minScore),
        `seed ${seed}`,
      );
    }
  }
  await expectNoTrace(domains[0] as Domain, { namespace, texts: model.texts });
  for (const domain of domains) await domain.namespaces.close();
}

function expectLike(
  found: Awaited<ReturnType<typeof recallBoth>>,
  expected: ReturnType<HybridModel["recall"]>,
  message: string,
): void {
  expect(
    found.map(({ text }) => text),
    message,
  ).toEqual(expected.map(({ text }) => text));
  for (const [i, each] of found.entries()) {
    expect(each.score, message).toBeCloseTo(expected[i]?.score as number, 5);
    expect(each.words, message).toBeCloseTo(expected[i]?.words as number, 9);
    expect(each.rank, message).toBeCloseTo(expected[i]?.rank as number, 5);
  }
}

/** Expects the same answers, to the last digit, as from a namespace that never had what was deleted. */
async function expectNoTrace(
  domain: Domain,
  { namespace, texts }: { namespace: string; texts: readonly string[] },
): Promise<void> {
  const fresh = `${namespace}-fresh`;
  for (const text of texts) await store(domain, fresh, text);
  for (const query of ["ana moved", "budget friday coffee", ...texts.slice(0, 3)]) {
    expect(await recallBoth(domain, { namespace, query })).toEqual(
      await recallBoth(domain, { namespace: fresh, query }),
    );
  }
}
