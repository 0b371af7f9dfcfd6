import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { charge, getAccount } from "../../src/accounts/authenticate.js";
import { closeAccount } from "../../src/accounts/close.js";
import { hashKey } from "../../src/accounts/key.js";
import { signUp } from "../../src/accounts/sign-up.js";
import { dropAll } from "../../src/memory/erasure/drop.js";
import { removingLeftovers } from "../../src/memory/erasure/sweeping.js";
import { Idempotency } from "../../src/memory/idempotency/idempotency.js";
import { store } from "../../src/memory/operations/store.js";
import { expectWhole } from "../../src/memory/ports/names.js";
import { aMemory } from "../contract/samples.js";
import { plainVectors, TestService } from "./domain.js";
import { modelOf, modelVersionsOf } from "./models.js";

let service: TestService;
beforeEach(async () => {
  service = await TestService.open();
});
afterEach(() => service.close());

/** Makes a domain whose model waits for a signal before it embeds. */
async function setUp() {
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const model = modelOf([1, 0]);
  const embedder = {
    ...model,
    embed: () => held.then(() => model.embed({ text: "", field: "text", owner: "acc" })),
  };
  const domain = service.domain({
    modelVersions: modelVersionsOf(embedder),
    vectors: plainVectors(() => ({})).vectors,
  });
  const { storage } = service;
  const { accounts } = storage;
  const { account, key } = await signUp({ accounts, signUp: "open", freeCalls: 10 }, { email: "" });
  const caller = { accountId: account.id, keyHash: hashKey(key), access: "full" } as const;
  const quota = {
    charge: () => charge(accounts, caller),
    verify: async () => void (await getAccount(accounts, caller)),
    refund: () => accounts.refund(account.id),
    count: () => {},
  };
  const idempotency = new Idempotency({ ...storage, clock: domain.ports.clock });
  const ports = { ...domain.ports, quota, idempotency };
  const close = () =>
    closeAccount(
      {
        accounts,
        grants: service.storage.grants,
        usage: { remove: async () => {} },
        calls: service.storage.calls,
        eraseMemories: (id) => dropAll(ports, id),
      },
      { caller, accountId: account.id },
    );
  return { goOn, domain, ports, caller, close, accounts };
}

it("an account's namespaces are dropped some at a time: their writes share waits for the disk", async () => {
  const { ports, caller, close } = await setUp();
  for (let i = 0; i < 40; i++) {
    await ports.names.create({ accountId: caller.accountId, namespace: `n${i}` });
  }
  const begin = ports.erasures.findOrInsert.bind(ports.erasures);
  let [running, most] = [0, 0];
  vi.spyOn(ports.erasures, "findOrInsert").mockImplementation(async (erasure) => {
    most = Math.max(most, ++running);
    const begun = await begin(erasure);
    running--;
    return begun;
  });
  expect(await close()).toBe(0);
  expect(most).toBeGreaterThan(4);
  expect(await ports.names.list({ accountId: caller.accountId, limit: 1 })).toEqual([]);
});

describe("a store that waits for the model while its account is closed", () => {
  it.each([undefined, "key"])(
    "is refused, and leaves nothing (Idempotency-Key: %s)",
    async (idempotencyKey) => {
      const { goOn, ports, caller, close } = await setUp();
      const storing = store(ports, { caller, text: "my secret", namespace: "ana", idempotencyKey });
      const refused = expect(storing).rejects.toMatchObject({ code: "unauthenticated" });
      await close();
      goOn();
      await refused;
      const [named] = expectWhole(
        await service.storage.names.list({ accountId: caller.accountId, limit: 10 }),
      );
      expect(named && (await service.storage.log.last(named.logId))).toBeUndefined();
    },
  );

  it("leaves a name that the audit takes away", async () => {
    const { goOn, domain, ports, caller, close, accounts } = await setUp();
    const storing = store(ports, { caller, text: "my secret", namespace: "ana" }).catch(() => {});
    await close();
    goOn();
    await storing;
    await domain.append("of an account that is only missing", aMemory());
    const audit = removingLeftovers({ ...ports, isClosed: (id) => accounts.isClosed(id) });
    expect(await audit()).toBe(1);
    expect(await service.storage.names.list({ accountId: caller.accountId, limit: 10 })).toEqual([]);
    expect(await audit()).toBe(0);
    expect(await domain.size("of an account that is only missing")).toBe(1);
  });
});
