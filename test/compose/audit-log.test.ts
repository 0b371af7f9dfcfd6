import type { FastifyBaseLogger } from "fastify";
import { expect, it, vi } from "vitest";
import { audited } from "../../src/compose/context.js";
import { MemoryError, unavailable } from "../../src/errors.js";

const REQUEST = { operation: "accounts show", given: { account: "acc_a" } };

/** Returns the log of a request with this answer. */
async function noted(answer: () => Promise<unknown>) {
  // Spies replace a real log, whose lines would show only what is written of an error.
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const outcome = await audited(log as unknown as FastifyBaseLogger, answer)(REQUEST).catch((error) => error);
  expect(log.info).toHaveBeenCalledExactlyOnceWith({ operation: "accounts show" }, "the operator asks");
  return { outcome, warned: log.warn.mock.calls, faults: log.error.mock.calls };
}

it("what the operator asks is noted, and nothing of what it was given", async () => {
  expect(await noted(async () => 1)).toEqual({ outcome: 1, warned: [], faults: [] });
});

it("what the operator may mend is told, not logged", async () => {
  const error = new MemoryError("not_found", "there is no account acc_a");
  expect(await noted(() => Promise.reject(error))).toEqual({ outcome: error, warned: [], faults: [] });
});

it("what led to a failure is logged, which the operator is not told", async () => {
  const err = unavailable("the database does not answer", new Error("ENOSPC"));
  const warned = [[{ err, operation: "accounts show" }, "the operator's command failed"]];
  expect(await noted(() => Promise.reject(err))).toEqual({ outcome: err, warned, faults: [] });
});

it("a fault of ours is logged, for the operator sees only that it is one", async () => {
  const err = new TypeError("undefined is not a function");
  const faults = [[{ err, operation: "accounts show" }, "fault"]];
  expect(await noted(() => Promise.reject(err))).toEqual({ outcome: err, warned: [], faults });
});
