import { afterEach, beforeEach, expect, it } from "vitest";
import { countMemories } from "../../src/memory/operations/count.js";
import type { Log } from "../../src/memory/ports/log.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { cloud, type Point } from "../index/vectors/clouds.js";
import { CALLER, DIMENSIONS, type Domain, memoryOf, TestService } from "./domain.js";

const rows = cloud(5, { dimensions: DIMENSIONS });
const query = (rows[0] as Point).vector;

let service: TestService;
beforeEach(async () => {
  service = await TestService.open();
  const [a, b, c, d, e] = rows.map((row) => memoryOf(row));
  if (!a || !b || !c || !d || !e) throw new Error("there are too few rows");
  await service.write("a", [a, b, c, { ...d, supersedes: [1, 2] }, { ...e, expiresAtMs: 1 }]);
});
afterEach(() => service.close());

const count = ({ ports }: Domain, includeSuperseded = false) =>
  countMemories(ports, { caller: CALLER, namespace: "a", includeSuperseded });

it("the memories of an open namespace are counted without reading those that others superseded", async () => {
  let fetches = 0;
  const { log: stored } = service.storage;
  const log = withChanges<Log>(stored, {
    fetch: (request) => {
      fetches++;
      return stored.fetch(request);
    },
  });
  const domain = service.domain({ log });
  await domain.recall("a", query);
  fetches = 0;
  expect(await count(domain)).toBe(2);
  expect(fetches).toBe(0);
  expect(await count(domain, true)).toBe(4);
});
