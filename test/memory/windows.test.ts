import { afterEach, expect, it } from "vitest";
import { wholeOf } from "../../src/memory/ports/windows.js";
import { aMemory } from "../contract/samples.js";
import { DIMENSIONS, type Domain, scopeOf, TestService } from "./domain.js";

const services: TestService[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});
async function openDomain(): Promise<Domain> {
  const service = await TestService.open();
  services.push(service);
  return service.domain();
}

/** Makes a point on an axis: the cosine of two is 1 on the same axis, else 0. */
const axis = (n: number) => Float32Array.from({ length: DIMENSIONS }, (_, i) => (i === n ? 1 : 0));
const between = (a: number, b: number) =>
  Float32Array.from({ length: DIMENSIONS }, (_, i) => (i === a || i === b ? Math.SQRT1_2 : 0));
/** Makes a point at this angle from the first axis, towards another one. */
const towards = (other: number, angle: number) =>
  Float32Array.from({ length: DIMENSIONS }, (_, i) =>
    i === 0 ? Math.cos(angle) : i === other ? Math.sin(angle) : 0,
  );
const endToEnd = (...vectors: Float32Array[]) => Float32Array.from(vectors.flatMap((each) => [...each]));
const windows = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ start: i * 10, end: i * 10 + 15 }));

async function recall(domain: Domain, vectors: Float32Array[], limit = 5) {
  const found = await domain.namespaces.using(scopeOf("a"), async ({ replica }) => {
    await replica.current();
    return (await replica.searching((search) => search.best({ vectors, wanted: limit }))).ranked;
  });
  return (found ?? []).map(({ entry, score, part }) => {
    return { id: entry.id, score, match: part ?? wholeOf(entry) };
  });
}

it("a long memory is found once, by its nearest window", async () => {
  const domain = await openDomain();
  const long = { id: "long", vectors: endToEnd(axis(0), axis(1), axis(2)), windows: windows(3) };
  await domain.append("a", aMemory(long));
  await domain.append("a", aMemory({ id: "short", text: "tea 🍵", vectors: between(1, 3) }));
  expect(await recall(domain, [axis(1)])).toEqual([
    { id: "long", score: 1, match: { start: 10, end: 25 } },
    { id: "short", score: expect.closeTo(Math.SQRT1_2, 5), match: { start: 0, end: 5 } },
  ]);
});

it("a long query finds by the nearest pair of its parts and the memories'", async () => {
  const domain = await openDomain();
  await domain.append("a", aMemory({ id: "x", vectors: endToEnd(axis(0), axis(1)), windows: windows(2) }));
  await domain.append(
    "a",
    aMemory({ id: "y", vectors: endToEnd(between(4, 5), axis(6)), windows: windows(2) }),
  );
  expect(await recall(domain, [axis(9), axis(4), axis(1)])).toEqual([
    { id: "x", score: 1, match: { start: 10, end: 25 } },
    { id: "y", score: expect.closeTo(Math.SQRT1_2, 5), match: { start: 0, end: 15 } },
  ]);
});

it("as many memories as are asked for are found beside one whose windows are all nearer", async () => {
  const domain = await openDomain();
  const near = Array.from({ length: 300 }, (_, i) => towards(1 + (i % 8), 0.001 * i));
  await domain.append("a", aMemory({ id: "long", vectors: endToEnd(...near), windows: windows(300) }));
  for (let i = 0; i < 20; i++) {
    await domain.append("a", aMemory({ id: `far ${i}`, vectors: towards(1 + (i % 8), 1 + 0.05 * i) }));
  }
  expect(await recall(domain, [axis(0)], 20)).toHaveLength(20);
});
