import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it, vi } from "vitest";
import {
  Call,
  CallMemory,
  type CallOptions,
  MEMORY_BYTES_MAX,
  SMALL_BYTES_MAX,
} from "../../src/server/call.js";

/** Makes a call of an account, or of nobody. */
function callOf({
  headers = {},
  account,
  memory = new CallMemory(),
  ...options
}: Partial<CallOptions> & {
  headers?: IncomingMessage["headers"];
  account?: string;
  memory?: CallMemory;
} = {}) {
  const request = { headers } as IncomingMessage;
  const call = new Call({ method: "m", protocol: "json", request, setHeader: () => {}, ...options }, memory);
  if (account !== undefined) call.principal = { accountId: account } as NonNullable<Call["principal"]>;
  return call;
}

const outcome = (work: Promise<unknown>) => work.catch((error) => Code[ConnectError.from(error).code]);
const never = () => new Promise<never>(() => {});
const nothing = () => {};

describe("a call", () => {
  it("resolves with the work's outcome", async () => {
    expect(await callOf().run(async () => "done", nothing)).toBe("done");
    const fails = async () => Promise.reject(new ConnectError("no such thing", Code.NotFound));
    expect(await outcome(callOf().run(fails, nothing))).toBe("NotFound");
  });

  it("ends at its client's time, even when the work ignores the signal", async () => {
    const call = callOf({ headers: { "connect-timeout-ms": "30" } });
    await expect(call.run(never, nothing)).rejects.toThrow("the call took longer than 30 ms");
    expect(call.signal.aborted).toBe(true);
    expect(ConnectError.from(call.signal.reason).code).toBe(Code.DeadlineExceeded);
  });

  it.each([{ "connect-timeout-ms": "0" }, { "grpc-timeout": "0n" }])(
    "does no work if its client leaves it no time: %o",
    async (headers) => {
      const work = vi.fn(async () => "done");
      expect(await outcome(callOf({ headers }).run(work, nothing))).toBe("DeadlineExceeded");
      expect(work).not.toHaveBeenCalled();
    },
  );

  it("has 30 seconds at most", () => {
    const call = callOf({ headers: { "grpc-timeout": "90S" } });
    expect(call.deadlineMs - call.startMs).toBeCloseTo(30_000, 3);
    call.clearTimer();
  });

  it("keeps no timer of a client's time after its end", () => {
    vi.useFakeTimers();
    try {
      const call = callOf({ headers: { "grpc-timeout": "50m" } });
      expect(vi.getTimerCount()).toBe(1);
      call.clearTimer();
      expect(vi.getTimerCount()).toBe(0);
      callOf();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("aborts a signal that was asked for before or after", () => {
    const call = callOf();
    const { signal } = call;
    call.abort(new ConnectError("gone", Code.Canceled));
    expect(signal.aborted).toBe(true);
    const late = callOf();
    late.abort(new ConnectError("gone", Code.Canceled));
    expect(late.signal.aborted).toBe(true);
  });

  it("does not begin work when it was aborted already", async () => {
    const call = callOf();
    call.abort(new ConnectError("going", Code.Unavailable));
    const work = vi.fn(never);
    expect(await outcome(call.run(work, nothing))).toBe("Unavailable");
    expect(work).not.toHaveBeenCalled();
  });

  it("tells what the work throws after the abort, and to no one else", async () => {
    const call = callOf();
    const late = vi.fn();
    const fails = async () => {
      await sleep(10);
      throw new TypeError("too late");
    };
    const running = outcome(call.run(fails, late));
    call.abort(new ConnectError("gone", Code.Canceled));
    expect(await running).toBe("Canceled");
    await sleep(30);
    expect(late).toHaveBeenCalledWith(expect.objectContaining({ message: "too late" }));
  });

  it.each([
    [{ "grpc-timeout": "99999999H" }, 0],
    [{ "connect-timeout-ms": "2147483648" }, 0],
    [{ "connect-timeout-ms": "2147483647" }, 1],
    [{}, 0],
  ])("that streams has no timer for a time that none can wait: %j", (headers, timers) => {
    vi.useFakeTimers();
    try {
      callOf({ headers, streams: true });
      expect(vi.getTimerCount()).toBe(timers);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("the memory of a call", () => {
  const LARGE = 4 * SMALL_BYTES_MAX;

  it("is its account's, under whichever key, and the network's without one", () => {
    const memory = new CallMemory();
    callOf({ memory, account: "a" }).hold(LARGE);
    callOf({ memory, account: "a" }).hold(LARGE);
    expect(memory.large.heldBy("account a")).toBe(2 * LARGE);
    callOf({ memory }).hold(10);
    expect(memory.small.used).toBe(10);
  });

  it("is given back once, when the answer was taken", () => {
    const memory = new CallMemory();
    const call = callOf({ memory, account: "a" });
    call.hold(SMALL_BYTES_MAX);
    expect(memory.small.used).toBe(SMALL_BYTES_MAX);
    call.hold(LARGE);
    expect([memory.small.used, memory.large.used]).toEqual([0, SMALL_BYTES_MAX + LARGE]);
    call.adjust(-LARGE);
    expect([memory.small.used, memory.large.used]).toEqual([SMALL_BYTES_MAX, 0]);
    call.release();
    call.release();
    call.hold(LARGE);
    expect([memory.small.used, memory.large.used]).toEqual([0, 0]);
  });

  it("is refused to an account that holds its share, and small requests have their own", () => {
    const memory = new CallMemory();
    const take = (account: string, bytes: number) => {
      try {
        callOf({ memory, account }).hold(bytes);
        return "ok";
      } catch (error) {
        return `${(error as { code: string }).code} ${(error as { reason: string }).reason}`;
      }
    };
    expect(take("a", MEMORY_BYTES_MAX / 3)).toBe("ok");
    expect(take("a", LARGE)).toBe("resource_exhausted BODIES_LIMITED");
    expect(take("b", MEMORY_BYTES_MAX / 2)).toBe("unavailable BODIES_LIMITED");
    expect(take("b", MEMORY_BYTES_MAX / 4)).toBe("ok");
    expect(take("a", SMALL_BYTES_MAX)).toBe("ok");
  });

  it("counts what an answer turned out to hold, although the account may hold no more", () => {
    const memory = new CallMemory();
    const call = callOf({ memory, account: "a" });
    call.hold(MEMORY_BYTES_MAX / 3);
    call.adjust(LARGE);
    expect(memory.large.used).toBe(MEMORY_BYTES_MAX / 3 + LARGE);
  });
});
