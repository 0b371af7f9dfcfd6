import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seeded } from "../../simulation/time.js";
import { openUsearch } from "./built.js";
import { cloud, nearest, type Point } from "./clouds.js";

/** Number of damaged copies. The long form (`npm run test:faults`) sets 1,000. */
const DAMAGES = Number(process.env.DAMAGED_SNAPSHOTS ?? 30);
const DIMENSIONS = 16;
const folder = mkdtempSync(join(tmpdir(), "recalld-damage-"));
const mine = cloud(600, { dimensions: DIMENSIONS, seed: 1 });
const others = cloud(600, { dimensions: DIMENSIONS, seed: 2 });
const random = seeded(7);

const vectorsIn = (snapshotsDir: string) =>
  openUsearch({
    dimensionsOf: () => DIMENSIONS,
    snapshotsDir,
    exactRowsMax: 100,
    tailRowsMax: 100,
    sealingShare: Number.POSITIVE_INFINITY,
  });
const pick = (below: number) => Math.floor(random() * below);

beforeAll(async () => {
  const vectors = vectorsIn(join(folder, "whole"));
  for (const [logId, rows] of [
    ["mine", mine],
    ["other", others],
  ] as const) {
    const index = vectors.open(logId);
    await index.add(rows.slice(0, 400));
    await index.settled();
    // This also leaves a journal that can be damaged.
    if (logId === "mine") await vectors.wipe("mine", [5, 6, 300]);
    if (logId === "mine") cpSync(join(folder, "whole"), join(folder, "older"), { recursive: true });
    await index.add(rows.slice(400));
    await index.settled();
    if (logId === "mine") await vectors.wipe("mine", [7, 8]);
    await index.close();
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

const file = (dir: string, end: string, of = "mine") =>
  readdirSync(dir).find((name) => name.startsWith(of) && name.endsWith(end)) as string;

/** Damages, each of which changes the copy of a whole snapshot in another way. */
const DAMAGES_BY_NAME: Record<string, (dir: string) => void> = {
  "cut vectors": (dir) => cut(join(dir, file(dir, ".usearch"))),
  "cut manifest": (dir) => cut(join(dir, file(dir, ".json"))),
  "flipped vectors": (dir) => flip(join(dir, file(dir, ".usearch"))),
  "flipped manifest": (dir) => flip(join(dir, file(dir, ".json"))),
  "cut keys": (dir) => cut(join(dir, file(dir, ".keys"))),
  "flipped keys": (dir) => flip(join(dir, file(dir, ".keys"))),
  "cut journal": (dir) => cut(join(dir, file(dir, ".wiped"))),
  "flipped journal": (dir) => flip(join(dir, file(dir, ".wiped"))),
  "missing journal": (dir) => rmSync(join(dir, file(dir, ".wiped"))),
  "swapped vectors": (dir) =>
    cpSync(join(dir, file(dir, ".usearch", "other")), join(dir, file(dir, ".usearch"))),
  "swapped both": (dir) => cpSync(join(dir, "other_0.json"), join(dir, "mine_0.json")),
  "missing vectors": (dir) => rmSync(join(dir, file(dir, ".usearch"))),
  "manifest of an older one": (dir) => cpSync(join(folder, "older", "mine_0.json"), join(dir, "mine_0.json")),
  "older vectors": (dir) => {
    const older = join(folder, "older");
    cpSync(join(older, file(older, ".usearch")), join(dir, file(dir, ".usearch")));
  },
  "an older one": (dir) => cpSync(join(folder, "older"), dir, { recursive: true }),
};

/** Result that is usable in spite of these. The keys are checked when they are needed. */
const LATEST = { sequence: 600, opId: "op600", wiped: [7, 8] };
const UNDERSTOOD: Record<string, unknown> = {
  "cut keys": LATEST,
  "flipped keys": LATEST,
  // At most the last line's end is missing of it.
  "cut journal": LATEST,
  "an older one": { sequence: 400, opId: "op400", wiped: [5, 6, 300] },
};

describe(`${DAMAGES} damaged snapshots`, () => {
  it("crash nothing and answer nothing wrong", { timeout: 1_800_000 }, async () => {
    const names = Object.keys(DAMAGES_BY_NAME);
    for (let i = 0; i < DAMAGES; i++) {
      const name = names[i % names.length] as string;
      const dir = join(folder, `copy-${i}`);
      cpSync(join(folder, "whole"), dir, { recursive: true });
      (DAMAGES_BY_NAME[name] as (dir: string) => void)(dir);
      await expectRight(dir, name);
      rmSync(dir, { recursive: true });
    }
  });
});

/** Checks that, restored or not, it answers correctly after the rest of the log. */
async function expectRight(dir: string, name: string): Promise<void> {
  const index = vectorsIn(dir).open("mine");
  const restored = await index.restore();
  if (restored !== undefined) expect(UNDERSTOOD[name], name).toEqual(restored);
  await index.add(mine.slice(restored?.sequence ?? 0));
  await index.add(mine.filter(({ sequence }) => restored?.wiped.includes(sequence)));
  expect(index.size, name).toBe(mine.length);
  let hits = 0;
  const queries = mine.filter((_, i) => i % 60 === 0);
  for (const { vector } of queries as Point[]) {
    const truth = new Set(nearest(mine, vector, 5));
    hits += (await index.search({ vector, limit: 5 })).filter(({ sequence }) => truth.has(sequence)).length;
  }
  expect(hits / (queries.length * 5), name).toBeGreaterThan(0.97);
  await index.close();
}

function cut(path: string): void {
  truncateSync(path, pick(readFileSync(path).length));
}

function flip(path: string): void {
  const bytes = readFileSync(path);
  const at = pick(bytes.length);
  bytes[at] = (bytes[at] as number) ^ (1 << pick(8));
  writeFileSync(path, bytes);
}
