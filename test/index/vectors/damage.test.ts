import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seeded } from "../../simulation/time.js";
import { filesIn, openVectors } from "./built.js";
import { cloud, nearest, type Point } from "./clouds.js";

/** Number of damaged copies. The long form (`npm run test:faults`) sets 1,000. */
const DAMAGES = Number(process.env.DAMAGED_SNAPSHOTS ?? 30);
const DIMENSIONS = 16;
const folder = mkdtempSync(join(tmpdir(), "recalld-damage-"));
const mine = cloud(600, { dimensions: DIMENSIONS, seed: 1 });
const others = cloud(600, { dimensions: DIMENSIONS, seed: 2 });
const random = seeded(7);

const vectorsIn = (snapshotsDir: string) =>
  openVectors({
    dimensionsOf: () => DIMENSIONS,
    folder: snapshotsDir,
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
    if (logId === "mine") await vectors.wipe("mine", [5, 6, 300]);
    if (logId === "mine") cpSync(join(folder, "whole"), join(folder, "older"), { recursive: true });
    await index.add(rows.slice(400));
    await index.settled();
    if (logId === "mine") await vectors.wipe("mine", [7, 8]);
    await index.close();
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

const file = (dir: string, end: string, logId = "mine") =>
  filesIn(dir, logId).find((path) => path.endsWith(end)) as string;

/** Damages, each of which changes the copy of a whole snapshot in another way. */
const DAMAGES_BY_NAME: Record<string, (dir: string) => void> = {
  "cut vectors": (dir) => cut(file(dir, ".usearch")),
  "cut manifest": (dir) => cut(file(dir, ".json")),
  "flipped vectors": (dir) => flip(file(dir, ".usearch")),
  "flipped manifest": (dir) => flip(file(dir, ".json")),
  "cut segment": (dir) => cut(file(dir, ".segment")),
  "flipped segment": (dir) => flip(file(dir, ".segment")),
  // Whoever reads it is told of a failure, as where a sector is bad.
  "unreadable segment": (dir) => {
    rmSync(file(dir, ".segment"));
    mkdirSync(`${file(dir, ".json").slice(0, -".json".length)}.segment`);
  },
  "missing segment": (dir) => rmSync(file(dir, ".segment")),
  "swapped vectors": (dir) => cpSync(file(dir, ".usearch", "other"), file(dir, ".usearch")),
  "swapped both": (dir) => cpSync(file(dir, ".json", "other"), file(dir, ".json")),
  "missing vectors": (dir) => rmSync(file(dir, ".usearch")),
  "manifest of an older one": (dir) => cpSync(file(join(folder, "older"), ".json"), file(dir, ".json")),
  "older vectors": (dir) => {
    const older = join(folder, "older");
    cpSync(file(older, ".usearch"), file(dir, ".usearch"));
  },
  "an older one": (dir) => {
    rmSync(join(dir, "mine"), { recursive: true });
    cpSync(join(folder, "older"), dir, { recursive: true });
  },
};

/** Result that is usable in spite of these. */
const UNDERSTOOD: Record<string, unknown> = {
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
