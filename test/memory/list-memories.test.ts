import { afterEach, beforeEach, expect, it } from "vitest";
import { listMemories, type Order } from "../../src/memory/operations/list.js";
import type { Log } from "../../src/memory/ports/log.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { cloud } from "../index/vectors/clouds.js";
import { CALLER, DIMENSIONS, memoryOf, TestService } from "./domain.js";

const MEMORIES = 20;
const [point, ...others] = cloud(MEMORIES, { dimensions: DIMENSIONS });
if (point === undefined) throw new Error("there is no point");

let service: TestService;
beforeEach(async () => {
  service = await TestService.open();
});
afterEach(() => service.close());

it.each([
  ["oldest", undefined, 100],
  ["oldest", { group: 1 }, 100],
  ["event-oldest", undefined, 8],
  ["event-newest", { group: 1 }, 8],
] as const)(
  "a list, the %s first, with the filter %j, holds each memory that lives all the time, though it is updated while its page is read",
  async (order: Order, filter, pageSize) => {
    const given = (sequence: number) => ({ metadata: '{"group":1}', createdAtMs: 1_000 * sequence });
    const memories = [point, ...others].map((each) => memoryOf(each, given(each.sequence)));
    const logId = await service.write("a", memories);
    const { log: stored } = service.storage;
    let updates = 0;
    const update = async () => {
      if (updates === 3) return;
      const target = updates === 0 ? 5 : MEMORIES + updates;
      updates++;
      await service.write("a", [{ ...memoryOf({ ...point, sequence: 5 }, given(5)), replaces: target }]);
      await stored.erase({ logId, sequences: [target] });
    };
    const log = withChanges<Log>(stored, {
      read: async (range) => {
        if (range.projection === "text") await update();
        return stored.read(range);
      },
      fetch: async (request) => {
        if (request.projection === "text") await update();
        return stored.fetch(request);
      },
    });
    const { ports } = service.domain({ log });
    const ids: string[] = [];
    let pageToken = "";
    do {
      const page = await listMemories(ports, {
        caller: CALLER,
        namespace: "a",
        order,
        filter,
        pageSize,
        pageToken,
      });
      ids.push(...page.items.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(updates).toBe(3);
    expect(new Set(ids)).toEqual(new Set(memories.map(({ id }) => id)));
  },
);
