import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { endCopy } from "../../src/memory/erasure/erase.js";
import { sweep } from "../../src/memory/erasure/sweeping.js";
import { verify } from "../../src/memory/log/verify.js";
import type { ModelVersions } from "../../src/memory/models/model-versions.js";
import type { Dropped, Log } from "../../src/memory/ports/log.js";
import { inModelVersion, type Pinned } from "../../src/memory/ports/model-version.js";
import { NOTHING, tend } from "../../src/memory/reembedding/move.js";
import { Moving } from "../../src/memory/reembedding/moving.js";
import { newOperationId } from "../../src/memory/requests/id.js";
import { aMemory, memories, memoriesOf } from "../contract/samples.js";
import { HandClock } from "./clock.js";
import { type Domain, plainVectors, scopeOf, TestService, until } from "./domain.js";
import { modelOf, modelVersionsOf } from "./models.js";

const OLD = modelOf([1, 0], "old");
const NEW = modelOf([0, 1], "new");
const FIRST: Pinned = { modelVersion: "", model: OLD.model };
const before = [FIRST];
const never = new AbortController().signal;
const anEnd = (): Dropped => ({ op: "drop", opId: newOperationId() });
/** Makes memories by the old model. */
const oldMemories = (count: number) =>
  memories(count).map((each) => ({ ...each, vectors: Float32Array.of(1, 0) }));

let service: TestService;
beforeEach(async () => {
  service = await TestService.open({ clock: new HandClock() });
});
afterEach(() => service.close());

/** Makes the domain of a process that has the new model, or the given ones. */
const domainOf = (modelVersions: ModelVersions = modelVersionsOf(NEW, { before })): Domain =>
  service.domain({ modelVersions, vectors: plainVectors(() => ({})).vectors });

/** Makes a model that holds back the texts that it is told to. */
function slowly(until: Promise<void>, onText: () => void = () => {}, models = before) {
  const embed: typeof NEW.embed = async ({ field, ...input }) => {
    if (field === "text") onText();
    if (field === "text") await until;
    return NEW.embed({ field, ...input });
  };
  return modelVersionsOf({ ...NEW, embed }, { before: models });
}

const find = async (namespace: string) => (await service.storage.names.find(scopeOf(namespace))) ?? "";
const move = async (domain: Domain, namespace: string) =>
  tend(domain.ports, { scope: scopeOf(namespace), logId: await find(namespace) }, never);

describe("a log that moves to another model", () => {
  it("has the same memories under the same numbers, by the new model", async () => {
    const all = oldMemories(70);
    const from = await service.write("a", [...all, { op: "delete", opId: newOperationId(), target: 3 }]);
    const domain = domainOf();
    expect(await move(domain, "a")).toBe(true);
    expect(await move(domain, "a")).toBe(false);
    const logId = await find("a");
    expect(logId).toBe(inModelVersion(from, "e1"));
    const found = await memoriesOf(service.storage.log, { logId, sequences: [2, 3, 4] });
    const { vectors } = await NEW.embed({ text: "", field: "text", owner: "" });
    expect(found).toEqual(
      [4, 2].map((sequence) => ({ sequence, entry: { ...all[sequence - 1], vectors, tokens: 1 } })),
    );
  });

  it("is moved by two processes at once, each of which does all the work, and one wins", async () => {
    await service.write("a", oldMemories(70));
    let embedded = 0;
    const domains = [1, 2].map(() => domainOf(slowly(Promise.resolve(), () => embedded++)));
    await Promise.all(domains.map((domain) => move(domain, "a")));
    expect(embedded).toBeGreaterThan(70);
    const [other] = domains;
    expect(await other?.size("a")).toBe(70);
    const logId = await find("a");
    expect((await service.storage.log.last(logId))?.sequence).toBe(70);
  });

  it("gets further with each attempt, also if some texts fail in each", async () => {
    const all = oldMemories(70);
    await service.write("a", all);
    let embedded = 0;
    const limited = "the server limits its rate";
    const failing = slowly(Promise.resolve(), () => {
      if (++embedded % 20 === 0) throw new Error(limited);
    });
    const domain = domainOf(failing);
    let failures = 0;
    while (
      !(await move(domain, "a").then(
        () => true,
        (error) => {
          // The operator has to know which memory keeps its namespace where it is.
          const named = /^memory mem_[\w-]+ of the log \w+ could not be embedded by new$/;
          expect(error).toMatchObject({ message: expect.stringMatching(named), cause: { message: limited } });
          return false;
        },
      ))
    )
      expect(++failures).toBeLessThan(8);
    expect(failures).toBeGreaterThan(1);
    const logId = await find("a");
    const sequences = all.map((_, i) => i + 1);
    const found = await memoriesOf(service.storage.log, { logId, sequences });
    expect(found.map(({ entry }) => entry.id)).toEqual(all.map(({ id }) => id).toReversed());
    for (const { entry } of found) expect([...entry.vectors]).toEqual([0, 1]);
  });

  it("takes along what is stored and deleted meanwhile", async () => {
    let wake = () => {};
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let began = 0;
    const from = await service.write("a", oldMemories(5));
    const moving = move(domainOf(slowly(asleep, () => began++)), "a");
    await until(() => began > 0);
    const domain = service.domain({
      modelVersions: modelVersionsOf(OLD),
      vectors: plainVectors(() => ({})).vectors,
    });
    const late = aMemory({ vectors: Float32Array.of(1, 0) });
    await domain.append("a", late);
    const { log } = service.storage;
    await log.append({
      logId: from,
      from: 7,
      entries: [{ op: "delete", opId: newOperationId(), target: 1 }],
    });
    wake();
    await moving;
    expect(await domainOf().recall("a", Float32Array.of(0, 1), 10)).toHaveLength(5);
    const { found } = await log.fetch({ logId: await find("a"), sequences: [1, 6], projection: "header" });
    expect(found.map(({ entry }) => entry.id)).toEqual([late.id]);
  });

  it("is not erased by a copier that slept while another moved it and the sweep came by", async () => {
    await service.write("a", oldMemories(5));
    let wake = () => {};
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let began = 0;
    const late = move(domainOf(slowly(asleep, () => began++)), "a");
    await until(() => began > 0);
    const quick = domainOf();
    await move(quick, "a");
    (quick.ports.clock as HandClock).atMs += 120_000;
    expect(await sweep(quick.ports)).toBe(1);
    wake();
    await late;
    const logId = await find("a");
    expect(await service.storage.log.measure({ logId })).toMatchObject({ memories: 5 });
  });

  it("and whose dropper died is taken off its name: a store begins it anew, and is found", async () => {
    await service.write("a", [aMemory(), anEnd()]);
    const domain = domainOf();
    expect(await move(domain, "a")).toBe(true);
    expect(await find("a")).toBe("");
    const entry = aMemory({ vectors: Float32Array.of(0, 1) });
    await domain.append("a", entry);
    expect(await domain.recall("a", Float32Array.of(0, 1))).toEqual([entry.id]);
  });
});

describe("a change that is given up", () => {
  /** Copies a log in part, as a process that dies does. */
  async function copyInPart(models = before): Promise<{ from: string; copy: string }> {
    const from = await service.write("a", oldMemories(70));
    let left = 65;
    const dying = slowly(
      Promise.resolve(),
      () => {
        if (--left === 0) throw new Error("killed");
      },
      models,
    );
    await expect(move(domainOf(dying), "a")).rejects.toMatchObject({ cause: { message: "killed" } });
    const copy = inModelVersion(from, `e${models.length}`);
    // A busy machine reads fewer entries at a time, so the copy may be shorter than 64.
    const { sequence = 0 } = (await service.storage.log.last(copy)) ?? {};
    expect(sequence).toBeGreaterThan(0);
    expect(sequence).toBeLessThan(70);
    return { from, copy };
  }
  const givenUp = () => modelVersionsOf(OLD, { before: [FIRST, { modelVersion: "e1", model: NEW.model }] });

  it("leaves the log where it is, and nothing of the copy", async () => {
    const { from, copy } = await copyInPart();
    const domain = domainOf(givenUp());
    expect(await move(domain, "a")).toBe(true);
    expect(await move(domain, "a")).toBe(false);
    expect(await find("a")).toBe(from);
    expect(await service.storage.log.measure({ logId: copy })).toMatchObject({ memories: 0 });
    expect(await domain.size("a")).toBe(70);
    const dimensionsOf = () => 2;
    const { problems } = await verify({ ...domain.ports, dimensionsOf });
    expect(problems).toEqual([]);
  });

  it("and made again leaves nothing of the second copy when a process that slept ends the first", async () => {
    const again = [FIRST, { modelVersion: "e1", model: NEW.model }, { modelVersion: "e2", model: OLD.model }];
    const { from, copy } = await copyInPart(again);
    await move(domainOf(), "a");
    expect(await find("a")).toBe(inModelVersion(from, "e1"));
    const domain = domainOf(modelVersionsOf(NEW, { before: again }));
    expect(await move(domain, "a")).toBe(true);
    expect(await move(domain, "a")).toBe(false);
    expect(await service.storage.log.measure({ logId: copy })).toMatchObject({ memories: 0 });
    expect(await find("a")).toBe(inModelVersion(from, "e1"));
    expect(await domain.size("a")).toBe(70);
  });

  it("is not carried out by a process that slept before its last step", async () => {
    const from = await service.write("a", oldMemories(5));
    let wake = () => {};
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let asked = 0;
    const pins = [FIRST, { modelVersion: "e1", model: NEW.model }];
    const slow = modelVersionsOf(NEW, {
      before,
      systemRecords: {
        models: async () => {
          // The second question is the one right before the move; its answer comes late.
          if (++asked === 2) await asleep;
          return asked > 2 ? [...pins, { modelVersion: "e2", model: OLD.model }] : pins;
        },
      },
    });
    const late = move(domainOf(slow), "a");
    await until(() => asked === 2);
    const domain = domainOf(givenUp());
    await move(domain, "a");
    wake();
    // It finds that the copy has ended, or that its number is taken.
    await late;
    expect(await find("a")).toBe(from);
    expect(await domain.size("a")).toBe(5);
  });

  it("is not carried out by a process that finds the entry before the copy has ended", async () => {
    const from = await service.write("a", oldMemories(5));
    let wake = () => {};
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let asked = 0;
    const pins = [FIRST, { modelVersion: "e1", model: NEW.model }];
    const slow = modelVersionsOf(NEW, {
      before,
      systemRecords: {
        models: async () => {
          // The second question is the one right before the move; its answer comes late.
          if (++asked === 2) await asleep;
          return asked > 2 ? [...pins, { modelVersion: "e2", model: OLD.model }] : pins;
        },
      },
    });
    const late = move(domainOf(slow), "a");
    await until(() => asked === 2);
    const { log } = service.storage;
    await log.append({ logId: from, from: 6, entries: [{ ...NOTHING, opId: newOperationId() }] });
    wake();
    await late;
    expect((await log.last(from))?.entry.op).toBe("erased");
    expect(await find("a")).toBe(from);
  });
});

describe("a process", () => {
  it("moves nothing before it has loaded the pinned model, and then every namespace", async () => {
    for (const name of ["a", "b", "c"]) await service.write(name, oldMemories(2));
    let pins = [FIRST];
    let load = () => {};
    const loading = new Promise<void>((resolve) => {
      load = resolve;
    });
    const modelVersions = modelVersionsOf(OLD, {
      systemRecords: { models: async () => pins },
      openModel: async () => {
        await loading;
        return { ...NEW, close: async () => {} };
      },
    });
    const moved: [string, number][] = [];
    const domain = domainOf(modelVersions);
    const onTrouble = (error: unknown) => expect(error).toBeUndefined();
    const onMoved = ({ id }: { id: string }, count: number) => moved.push([id, count]);
    const moving = new Moving({ ...domain.ports, onTrouble, onMoved });
    pins = [FIRST, { modelVersion: "e1", model: NEW.model }];
    for (let i = 0; i < 3; i++) await moving.step();
    expect(await find("a")).not.toContain("x");
    load();
    await until(() => modelVersions.has("e1"));
    await moving.step();
    await until(() => moved.length > 0);
    expect(moved).toEqual([["new", 3]]);
    for (const name of ["a", "b", "c"]) {
      expect(await find(name)).toMatch(/xe1$/);
      expect(await domain.size(name)).toBe(2);
    }
    await moving.close();
  });

  it("lets each text that it embeds listen for its end, without a warning of a leak", async () => {
    await service.write("a", oldMemories(2));
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on("warning", note);
    const embed: typeof NEW.embed = async (input) => {
      for (let i = 0; i < 16; i++) input.signal?.addEventListener("abort", () => {});
      return NEW.embed(input);
    };
    const { ports } = domainOf(modelVersionsOf({ ...NEW, embed }, { before }));
    let hasMoved = false;
    const moving = new Moving({ ...ports, onTrouble: note as () => void, onMoved: () => (hasMoved = true) });
    await moving.step();
    await until(() => hasMoved);
    await moving.close();
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });

  it("that knows only the model before loads that of a log which has moved, and reads and writes there", async () => {
    await service.write("a", oldMemories(2));
    const pins = [FIRST, { modelVersion: "e1", model: NEW.model }];
    const modelVersions = modelVersionsOf(OLD, {
      systemRecords: { models: async () => pins },
      openModel: async () => ({ ...NEW, close: async () => {} }),
    });
    const domain = domainOf(modelVersions);
    expect(await domain.size("a")).toBe(2);
    await move(domainOf(), "a");
    expect(modelVersions.has("e1")).toBe(false);
    expect(await domain.size("a")).toBe(2);
    const asked = { text: "t", field: "text", owner: "acc" } as const;
    const { vectors } = await modelVersions.embed("e1", asked);
    await domain.append("a", aMemory({ vectors }));
    expect(await domain.recall("a", vectors, 10)).toHaveLength(3);
  });
});

describe("a copy that is not needed", () => {
  it("is not erased before it has an end, which others may be quicker than", async () => {
    let erased = 0;
    const log: Pick<Log, "last" | "append" | "read" | "erase"> = {
      last: async () => ({ sequence: 1, entry: aMemory() }),
      append: async () => 0,
      read: async () => ({ entries: [], complete: true }),
      erase: async () => void erased++,
    };
    await expect(endCopy({ log: log as Log, clock: new HandClock() }, "i")).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(erased).toBe(0);
  });
});
