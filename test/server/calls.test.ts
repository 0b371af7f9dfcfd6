import type { IncomingMessage } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import { Plans } from "../../src/accounts/plan.js";
import { limitSignUps } from "../../src/accounts/sign-up.js";
import type { Share } from "../../src/concurrency/share.js";
import { MemoryError } from "../../src/errors.js";
import { NO_TIMINGS } from "../../src/memory/ports/step-timer.js";
import type { CallOptions } from "../../src/server/call.js";
import { Calls } from "../../src/server/calls.js";
import { openLog } from "../../src/server/logging.js";

function openCalls() {
  const calls = new Calls({
    authenticate: () => Promise.reject(new Error("no call needs a key")),
    plans: new Plans([]),
    load: { check: () => {} },
    checkSignUp: limitSignUps({ perHour: 1, perHourTotal: 1 }),
    recorder: { note: () => {} },
    onBegin: () => ({ timer: NO_TIMINGS, end: () => {} }),
    logger: openLog("silent").logger,
  });
  onTestFinished(() => calls.close());
  const open = (method: string, options: Partial<CallOptions> = {}) => {
    // Nobody takes the answer to a request that no server has: the call goes on until it is ended.
    const request = { headers: {} } as IncomingMessage;
    return calls.open({ method, protocol: "mcp", request, setHeader: () => {}, ...options });
  };
  return { calls, open };
}

it("a sign-up that the database could not serve is not counted", async () => {
  const { calls, open } = openCalls();
  const signUp = async (error?: MemoryError) => {
    // Released when its answer is taken.
    const request = { headers: {}, opened: { onEnd: [] as unknown } } as IncomingMessage;
    const call = open("recalld.v1.AccountService/SignUp", { request });
    await calls.begin(call);
    call.error = error;
    call.release();
  };
  for (let times = 0; times < 3; times++)
    await signUp(new MemoryError("unavailable", "the database is away"));
  await signUp(new MemoryError("invalid_argument", "email is not of the form name@host"));
  await expect(signUp()).rejects.toMatchObject({ reason: "RATE_LIMITED" });
});

it("RPCs are running from their opening to their end, but no streams and no messages of MCP", () => {
  const { calls, open } = openCalls();
  const message = open("POST /mcp");
  const watch = open("recalld.v1.MemoryService/WatchNamespace", { streams: true });
  expect(calls.running).toBe(0);
  const [first, second] = [open("recalld.v1.MemoryService/Store"), open("recalld.v1.MemoryService/Recall")];
  expect(calls.running).toBe(2);
  for (const call of [first, first, watch, message]) calls.end(call);
  expect(calls.running).toBe(1);
  calls.end(second);
  expect(calls.running).toBe(0);
});

it("a filter counts as what it becomes, so that many at once do not fill the memory", async () => {
  const { calls, open } = openCalls();
  const held = async (message: unknown) => {
    const request = { headers: {}, opened: { onEnd: [] as unknown } } as IncomingMessage;
    const call = open("recalld.v1.MemoryService/CountMemories", { request });
    call.message = message as NonNullable<typeof call.message>;
    call.hold(120_000);
    await calls.run(call, {
      descriptor: MemoryService.method.countMemories,
      serve: async () => ({}),
      bytesMax: 0,
    });
    const { used } = calls.shares.memory as Share;
    call.release();
    return used;
  };
  expect(await held({ namespace: "notes" })).toBe(120_000);
  expect(await held({ namespace: "notes", filter: { level: { $in: [1, 2] } } })).toBe(840_000);
});

it("a call that its client leaves no time does not begin, whether or not it streams", async () => {
  const { calls, open } = openCalls();
  for (const streams of [true, false]) {
    const headers: IncomingMessage["headers"] = { "grpc-timeout": "0S" };
    const request = { headers } as IncomingMessage;
    const call = open("recalld.v1.MemoryService/ExportMemories", { request, streams });
    await expect(calls.begin(call)).rejects.toThrow("the call took longer than 0 ms");
  }
});
