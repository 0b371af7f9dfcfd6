import { afterEach, beforeEach, expect, it } from "vitest";
import { openCallRecorder } from "../../src/accounts/calls/record-calls.js";
import { sweep } from "../../src/memory/erasure/sweeping.js";
import { deleteNamespace } from "../../src/memory/operations/delete-namespace.js";
import { aCall } from "../contract/calls.js";
import { aMemory } from "../contract/samples.js";
import { HandClock } from "./clock.js";
import { CALLER, TestService } from "./domain.js";

const clock = new HandClock();
// Records older than a month would be removed for their age. Calls in flight take less than half a minute.
clock.wallAheadMs = Date.now() - 20_000;
let service: TestService;
beforeEach(async () => {
  service = await TestService.open({ clock });
});
afterEach(() => service.close());

it("records of calls in a deleted namespace are erased, also those that another process adds after it", async () => {
  const { accounts, calls, erasures, names } = service.storage;
  const domain = service.domain();
  await service.write("ana", [aMemory()]);
  const options = { days: 30, max: 100, onLost: () => {}, onTrouble: () => {} };
  const other = openCallRecorder(calls, { ...options, accounts, names });
  const { accountId } = CALLER;
  const note = (requestId: string, namespace: string) => {
    const { id: _, ...call } = aCall({ accountId, namespace, requestId, atMs: clock.wallMs(), ms: 0 });
    return call;
  };
  const inTheStore = async () =>
    (await calls.list({ accountId, limit: 9 })).map(({ requestId }) => requestId);
  const [before, inFlight, elsewhere] = [
    note("before", "ana"),
    note("in flight", "ana"),
    note("else", "bob"),
  ];
  await calls.add([{ id: "call_0", ...before }]);
  clock.atMs += 1_000;
  await deleteNamespace(domain.ports, { caller: CALLER, namespace: "ana", force: true });
  expect(await inTheStore()).toEqual([]);
  clock.atMs += 10_000;
  const later = note("of a new namespace of the same name", "ana");
  // The recorder goes by the system's clock: all of these end now, wherever they began.
  for (const call of [inFlight, elsewhere, later]) other.note({}, { ...call, ms: Date.now() - call.atMs });
  await other.close();
  expect(await inTheStore()).toHaveLength(3);
  await sweep(domain.ports);
  expect(await erasures.list({ limit: 9 })).toHaveLength(1);
  clock.atMs += 60_000;
  await sweep(domain.ports);
  expect((await inTheStore()).sort()).toEqual(["else", "of a new namespace of the same name"]);
  expect(await erasures.list({ limit: 9 })).toEqual([]);
  // An export whose client reads slowly ends long after.
  await service.write("bob", [aMemory()]);
  const longer = openCallRecorder(calls, { ...options, accounts, names });
  for (const call of [note("an export", "ana"), note("an export of another one", "bob")])
    longer.note({}, { ...call, ms: 100_000 });
  await longer.close();
  const kept = await calls.list({ accountId, limit: 9 });
  expect(
    kept.filter(({ requestId }) => requestId.startsWith("an export")).map((each) => each.namespace),
  ).toEqual(["bob", undefined]);
});
