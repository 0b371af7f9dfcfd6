import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deleteMemory } from "../../src/memory/calls/delete-memory.js";
import { deleteNamespace } from "../../src/memory/calls/delete-namespace.js";
import { recall } from "../../src/memory/calls/recall.js";
import { aMemory } from "../contract/samples.js";
import { type Chance, chanceOf } from "../support/chance.js";
import { HybridModel } from "./hybrid-model.js";
import { modelVersionsOf } from "./models.js";
import { CALLER, House, type Room } from "./room.js";
import { TOY_DIMENSIONS, toyEmbedder, toyEmbedding } from "./toy-embedder.js";
import { unsavedIndexes } from "./unsaved-indexes.js";

/** Number of random sequences; set it higher after a change to what orders results. */
const SEQUENCES = Number(process.env.HYBRID_SEQUENCES ?? 10);
const STEPS = 60;
const VOCABULARY = "ana moved berlin friday meeting peanuts allergic budget train coffee garden piano".split(
  " ",
);

let house: House;
beforeEach(async () => {
  // Nothing is sealed: the rooms of one house share their folder.
  house = await House.open({ dimensions: TOY_DIMENSIONS, tailRowsMax: Number.MAX_SAFE_INTEGER });
});
afterEach(() => house.close());

const newRoom = ({ indexes } = unsavedIndexes()) =>
  house.room({ modelVersions: modelVersionsOf(toyEmbedder), indexes });

let stored = 0;
/** Appends a memory; returns its id. */
async function store(room: Room, namespace: string, text: string): Promise<string> {
  const id = `mem_${String(++stored).padStart(26, "0")}`;
  await room.append(namespace, aMemory({ id, opId: id, text, ...toyEmbedding(text) }));
  return id;
}

interface Asked {
  readonly namespace: string;
  readonly query: string;
  readonly topK?: number;
  readonly minScore?: number;
}

async function recallBoth(room: Room, { namespace, query, topK = 20, minScore }: Asked) {
  const ports = { ...room.ports, idempotency: undefined as never };
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

  it("finds a memory by its words at the very next recall, on any replica", async () => {
    const [one, other] = [newRoom(), newRoom()];
    for (let i = 0; i < 30; i++) {
      await store(i % 2 ? one : other, "a", `the code word is zebra${i}`);
      for (const room of [one, other]) {
        const [first] = await recallBoth(room, { namespace: "a", query: `zebra${i}` });
        expect(first).toMatchObject({ text: `the code word is zebra${i}` });
        expect(first?.words).toBeGreaterThan(0);
      }
    }
  });

  it("does not read the log again for words that it was handed", async () => {
    const room = newRoom();
    await store(room, "a", "ana moved to berlin");
    await recallBoth(room, { namespace: "a", query: "ana" });
    const read = room.log.read.bind(room.log);
    const parts: string[] = [];
    let entries = 0;
    Object.assign(room.log, {
      read: async (range: Parameters<typeof read>[0]) => {
        parts.push(range.what);
        const tail = await read(range);
        entries += tail.entries.length;
        return tail;
      },
    });
    await store(room, "a", "ana likes coffee");
    await recallBoth(room, { namespace: "a", query: "coffee" });
    expect(parts.length).toBeGreaterThan(0);
    expect(parts).toEqual(parts.map(() => "all"));
    expect(entries).toBe(0);
  });

  it("answers nothing in a namespace that does not exist, or is empty again", async () => {
    const room = newRoom();
    expect(await recallBoth(room, { namespace: "none", query: "ana" })).toEqual([]);
    const id = await store(room, "a", "ana");
    expect(await recallBoth(room, { namespace: "a", query: "ana" })).toHaveLength(1);
    await deleteMemory(room.ports, { caller: CALLER, namespace: "a", id });
    expect(await recallBoth(room, { namespace: "a", query: "ana" })).toEqual([]);
  });

  it("builds the indexes anew after one has failed", async () => {
    const failures = [new Error("the index is broken")];
    const { indexes } = unsavedIndexes();
    const failing = unsavedIndexes({
      searchWords: (of, query) => {
        const failure = failures.pop();
        return failure === undefined ? indexes.searchWords(of, query) : Promise.reject(failure);
      },
    });
    const room = newRoom(failing);
    await store(room, "a", "ana moved to berlin");
    const asked = { namespace: "a", query: "ana" };
    await expect(recallBoth(room, asked)).rejects.toMatchObject({ code: "unavailable" });
    expect(await recallBoth(room, asked)).toHaveLength(1);
    expect(failing.opened.map(({ closed }) => closed)).toEqual([1, 0]);
  });

  it("closes the index with its namespace, and erases its files when it is dropped", async () => {
    const made = unsavedIndexes();
    const room = newRoom(made);
    await store(room, "a", "ana moved to berlin");
    const logId = made.opened[0]?.logId as string;
    made.discarded.length = 0;
    await deleteNamespace(room.ports, { caller: CALLER, namespace: "a", force: true });
    await room.namespaces.close();
    expect(made.opened[0]?.closed).toBe(1);
    expect(made.discarded).toContain(logId);
  });

  it("counts words and fields within the budget of the indexes", async () => {
    const bytesOf = async (text: string) => {
      const room = newRoom();
      const namespace = `of ${text.length}`;
      await store(room, namespace, text);
      return room.namespaces.measure().bytes;
    };
    const many = Array.from({ length: 200 }, (_, i) => `word${i}`).join(" ");
    expect(await bytesOf(many)).toBeGreaterThan((await bytesOf("ana")) + 200 * 8);
  });
});

/** Runs one sequence of calls on two replicas, and compares every recall with the model. */
async function runSequence(seed: number): Promise<void> {
  const chance = chanceOf(seed);
  const rooms = [newRoom(), newRoom()];
  const namespace = `n${seed}`;
  const model = new HybridModel();
  const ids = new Map<string, string>();
  const [storing, deleting] = chance.pick([
    [0.5, 0.65],
    [0.8, 0.85],
  ] as const);
  for (let step = 0; step < STEPS; step++) {
    const room = chance.pick(rooms);
    const kind = chance.next();
    if (kind < storing) {
      for (let i = chance.below(4); i >= 0; i--) {
        const text = textOf(chance, `unique${seed}x${step}x${i}`);
        ids.set(text, await store(room, namespace, text));
        model.texts.push(text);
      }
    } else if (kind < deleting && model.texts.length > 0) {
      const text = chance.pick(model.texts);
      await deleteMemory(room.ports, { caller: CALLER, namespace, id: ids.get(text) as string });
      model.texts = model.texts.filter((each) => each !== text);
    } else if (kind < deleting + 0.01 && model.texts.length > 0) {
      await deleteNamespace(room.ports, { caller: CALLER, namespace, force: true });
      model.texts = [];
    } else {
      const topK = chance.pick([1, 5, 20]);
      const query = queryOf(chance, model.texts);
      const minScore = chance.pick([undefined, 0.1234567, 0.4321, 0.7654321]);
      expectLike(
        await recallBoth(room, { namespace, query, topK, ...(minScore !== undefined && { minScore }) }),
        model.recall(query, topK, minScore),
        `seed ${seed}`,
      );
    }
  }
  await expectNoTrace(rooms[0] as Room, { namespace, texts: model.texts });
  for (const room of rooms) await room.namespaces.close();
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
  room: Room,
  { namespace, texts }: { namespace: string; texts: readonly string[] },
): Promise<void> {
  const fresh = `${namespace}-fresh`;
  for (const text of texts) await store(room, fresh, text);
  for (const query of ["ana moved", "budget friday coffee", ...texts.slice(0, 3)]) {
    expect(await recallBoth(room, { namespace, query })).toEqual(
      await recallBoth(room, { namespace: fresh, query }),
    );
  }
}
