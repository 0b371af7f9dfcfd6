import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openVectors } from "./built.js";
import { cloud } from "./clouds.js";

const DIMENSIONS = 384;
const ROWS = 1_000;
const rows = cloud(ROWS, { dimensions: DIMENSIONS, seed: 3 });
const queries = cloud(100, { dimensions: DIMENSIONS, seed: 4 });

/** Computes the cosine of two vectors in double precision. */
function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) =>
    x.reduce((sum, value, i) => sum + value * (y[i] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

it.each([
  ["exact", ROWS],
  ["a graph", ROWS / 2],
])(
  "no similarity is further from the cosine than the index says, while it is %s",
  async (_, exactRowsMax) => {
    const snapshotsDir = mkdtempSync(join(tmpdir(), "recalld-vectors-"));
    const sealingShare = Number.POSITIVE_INFINITY;
    const vectors = openVectors({
      dimensionsOf: () => DIMENSIONS,
      folder: snapshotsDir,
      exactRowsMax,
      sealingShare,
    });
    const index = vectors.open("i1");
    await index.add(rows.map((row) => ({ sequence: row.sequence, vectors: [row.vector] })));
    await index.settled();
    let furthest = 0;
    for (const { vector } of [...queries, ...rows.slice(0, queries.length)]) {
      for (const { sequence, similarity } of await index.search({ vector, limit: 50 })) {
        const row = rows.find((each) => each.sequence === sequence);
        furthest = Math.max(furthest, Math.abs(similarity - cosine(vector, row?.vector as Float32Array)));
      }
    }
    expect(furthest).toBeLessThan(index.error);
    // The graph errs by more than the bound of an exact index.
    expect(furthest > 1e-5).toBe(exactRowsMax < ROWS);
    await index.close();
    await vectors.close();
  },
);
