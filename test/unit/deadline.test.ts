import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import {
  Code,
  ConnectError,
  createClient,
  createRouterTransport,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import { MemoryError } from "../../src/errors.js";
import { capTimeouts, deadline } from "../../src/server/rpc/deadline.js";

const MAX_MS = 50;

type Recall = (request: unknown, context: HandlerContext) => Promise<{ namespace: string }>;

/** Makes a client of a server with the given `recall`, under the given interceptors. */
function clientOf(recall: Recall, ...interceptors: Interceptor[]) {
  const transport = createRouterTransport((router) => router.service(MemoryService, { recall }), {
    router: { interceptors: interceptors.length > 0 ? interceptors : [deadline(MAX_MS)] },
  });
  return createClient(MemoryService, transport);
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "no error",
    (error) => ConnectError.from(error).code,
  );

const never = () => new Promise<never>(() => {});

describe("the deadline of a call", () => {
  it("lets calls answer that are in time", async () => {
    const answer = await clientOf(async () => ({ namespace: "a" })).recall({});
    expect(answer.namespace).toBe("a");
  });

  it("lets errors through as they are", async () => {
    const recall = async () => {
      throw new ConnectError("no such thing", Code.NotFound);
    };
    expect(await codeOf(clientOf(recall).recall({}))).toBe(Code.NotFound);
  });

  it("answers in time even when the handler ignores its signal", async () => {
    expect(await codeOf(clientOf(never).recall({}))).toBe(Code.DeadlineExceeded);
  });

  it("caps what the client allowed", async () => {
    const call = clientOf(never).recall({}, { timeoutMs: 60_000 });
    expect(await codeOf(call)).toBe(Code.DeadlineExceeded);
  });

  it("names itself, not what the handler says about the abort", async () => {
    const recall: Recall = async (_, { signal }) => {
      await sleep(10_000, undefined, { signal });
      return { namespace: "" };
    };
    await expect(clientOf(recall).recall({})).rejects.toThrow("longer than 50 ms");
  });

  it("tells the handler", async () => {
    let reason: unknown;
    const recall: Recall = (_, { signal }) => {
      signal.addEventListener("abort", () => {
        reason = signal.reason;
      });
      return never();
    };
    await codeOf(clientOf(recall).recall({}));
    expect(ConnectError.from(reason).code).toBe(Code.DeadlineExceeded);
  });

  it("ends a call that its client gave up, as canceled", async () => {
    let answered: unknown;
    const watch: Interceptor = (next) => (request) => {
      const call = next(request);
      answered = codeOf(call);
      return call;
    };
    const abort = new AbortController();
    const call = clientOf(never, watch, deadline(10_000)).recall({}, { signal: abort.signal });
    setTimeout(() => abort.abort(), 10);
    expect(await codeOf(call)).toBe(Code.Canceled);
    expect(await answered).toBe(Code.Canceled);
  });

  it("does not begin a call that has ended already", async () => {
    const handler = vi.fn(never);
    const ended: Interceptor = (next) => (request) =>
      next({ ...request, signal: AbortSignal.abort(new ConnectError("going", Code.Unavailable)) });
    expect(await codeOf(clientOf(handler, ended, deadline(MAX_MS)).recall({}))).toBe(Code.Unavailable);
    expect(handler).not.toHaveBeenCalled();
  });

  it("drops what a late handler throws", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    onTestFinished(() => void process.off("unhandledRejection", unhandled));
    const recall = async () => {
      await sleep(MAX_MS + 20);
      throw new Error("too late");
    };
    expect(await codeOf(clientOf(recall).recall({}))).toBe(Code.DeadlineExceeded);
    await sleep(50);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it("reports a fault that nobody is told of any more, and no other outcome", async () => {
    const faults: unknown[] = [];
    const late = async (error: unknown) => {
      const recall: Recall = async () => {
        await sleep(MAX_MS + 20);
        throw error;
      };
      await codeOf(
        clientOf(
          recall,
          deadline(MAX_MS, (fault) => faults.push(fault)),
        ).recall({}),
      );
      await sleep(50);
    };
    const fault = new TypeError("a fault");
    await late(fault);
    await late(new MemoryError("not_found", "no such memory"));
    await late(new DOMException("aborted", "AbortError"));
    expect(faults).toHaveLength(1);
    expect(String((faults[0] as Error).cause ?? faults[0])).toContain("a fault");
  });

  it.each([
    [{ "grpc-timeout": "99999999H" }, { "grpc-timeout": "2147483S" }],
    [{ "grpc-timeout": "2147483648m" }, { "grpc-timeout": "2147483648m" }], // not well-formed: Connect refuses it
    [{ "grpc-timeout": "2147484S" }, { "grpc-timeout": "2147483S" }],
    [{ "grpc-timeout": "30S" }, { "grpc-timeout": "30S" }],
    [{ "connect-timeout-ms": "9999999999" }, { "connect-timeout-ms": "2147483647" }],
    [{ "connect-timeout-ms": "30000" }, { "connect-timeout-ms": "30000" }],
    [{}, {}],
  ])("what a client allows, %j, is no more than a timer can wait", (headers, expected) => {
    capTimeouts(headers);
    expect(headers).toEqual(expected);
  });

  const fail = async () => {
    throw new ConnectError("no", Code.Internal);
  };

  it.each<[string, Recall, number]>([
    ["an answer", async () => ({ namespace: "" }), 1],
    ["an error", fail, 1],
    ["its end", never, MAX_MS],
  ])("leaves no timer and no listener after %s", async (_, recall, afterMs) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const listeners: number[] = [];
    const count: Interceptor = (next) => (request) => {
      const note = () => listeners.push(getEventListeners(request.signal, "abort").length);
      note();
      return next(request).finally(note);
    };
    const call = codeOf(clientOf(recall, count, deadline(MAX_MS)).recall({}));
    await vi.advanceTimersByTimeAsync(afterMs);
    await call;
    expect(vi.getTimerCount()).toBe(0);
    expect(listeners[1]).toBe(listeners[0]);
  });
});
