import { describe, expect, it } from "vitest";
import { BodyRoom, type Reservation } from "../../src/server/rpc/body-room.js";

const LIMITS = { bytesMax: 120, waitingMax: 4, waitMs: 50 };

const outcome = (work: Promise<void>) =>
  work.then(
    () => "ok",
    ({ code, reason, retryAfterMs }) => `${code} ${reason} ${retryAfterMs}`,
  );

/** Opens a place and takes room, and records the outcome. */
async function take(room: BodyRoom, owner: string, bytes: number): Promise<[Reservation, string]> {
  const place = room.open(owner);
  return [place, await outcome(place.resize(bytes))];
}

describe("the room for bodies", () => {
  it("gives one owner half, two a third each, and keeps some for the next", async () => {
    const room = new BodyRoom(LIMITS);
    expect((await take(room, "a", 60))[1]).toBe("ok");
    expect((await take(room, "a", 1))[1]).toBe("resource_exhausted BODIES_LIMITED 1000");
    expect((await take(room, "b", 30))[1]).toBe("ok");
    expect((await take(room, "b", 1))[1]).toBe("resource_exhausted BODIES_LIMITED 1000");
    expect((await take(room, "c", 31))[1]).toBe("unavailable BODIES_LIMITED 1000");
    expect((await take(room, "c", 15))[1]).toBe("ok");
    expect(room.heldBytes).toBe(105);
  });

  it("lets a call wait until there is room", async () => {
    const room = new BodyRoom(LIMITS);
    const [first] = await take(room, "a", 60);
    const second = take(room, "a", 50);
    first.close();
    expect((await second)[1]).toBe("ok");
    expect(room.heldBytes).toBe(50);
  });

  it("lets nobody take all the places to wait", async () => {
    const room = new BodyRoom({ ...LIMITS, waitMs: 1_000 });
    const [first] = await take(room, "a", 60);
    const waiting = [take(room, "a", 10), take(room, "a", 10)];
    const begin = performance.now();
    expect((await take(room, "a", 10))[1]).toContain("resource_exhausted");
    expect(performance.now() - begin).toBeLessThan(500);
    const other = take(room, "b", 61);
    first.close();
    expect((await Promise.all(waiting)).map(([, how]) => how)).toEqual(["ok", "ok"]);
    expect((await other)[1]).toBe("ok");
  });

  it("has all its room again when the places have closed, whatever happened in them", async () => {
    const room = new BodyRoom(LIMITS);
    const grown = room.open("a");
    await grown.resize(10);
    await grown.resize(40);
    await grown.resize(20);
    expect(room.heldBytes).toBe(20);
    const refused = room.open("b");
    await outcome(refused.resize(1000));
    const late = room.open("a");
    const closedWhileItWaits = outcome(late.resize(50));
    late.close();
    grown.close();
    grown.close();
    refused.close();
    expect(await closedWhileItWaits).toBe("ok");
    await late.resize(5);
    expect(room.heldBytes).toBe(0);
  });
});
