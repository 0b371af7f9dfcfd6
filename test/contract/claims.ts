import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { recordAnswer } from "../../src/memory/idempotency/idempotency.js";
import type { Claim, ClaimAnswer } from "../../src/memory/ports/claims.js";
import { type MakeDatabase, useDatabase } from "./database.js";

const HOUR_MS = 3_600_000;

interface TakeOver extends Pick<Claim, "id" | "claimedAtMs" | "stored"> {
  readonly from: string;
  readonly to: string;
}

function aClaim(given: Partial<Claim> = {}): Claim {
  const claimedAtMs = Date.now();
  return {
    id: `acc_1:${randomUUID()}`,
    requestHash: "hash",
    memoryId: `mem_${randomUUID()}`,
    owner: randomUUID(),
    claimedAtMs,
    expiresAtMs: claimedAtMs + HOUR_MS,
    ...given,
  };
}

/** Contract of every adapter of claims. */
export function claimsContract(name: string, make: MakeDatabase): void {
  describe(`claims: ${name}`, () => {
    const used = useDatabase(make);
    /** What idempotency does with claims. */
    const claims = () => {
      const { claims: records } = used.storage;
      return {
        claim: (claim: Claim) => records.findOrInsert(claim, claim.claimedAtMs),
        takeOver: ({ id, from, to, ...set }: TakeOver) =>
          records.update({ id, owner: from, answer: undefined }, { owner: to, ...set }),
        answer: (request: Parameters<typeof recordAnswer>[1]) => recordAnswer(records, request),
        release: ({ id, owner }: Pick<Claim, "id" | "owner">) => records.remove({ id, owner }),
      };
    };
    const claimed = async (given: Partial<Claim> = {}) => claims().claim(aClaim(given));
    /** Reads the current claim, as a late caller sees it. */
    const existing = ({ id }: Claim) => claims().claim(aClaim({ id, owner: "late" }));

    it("answers all that claim the same key with the one claim that stands", async () => {
      const { id } = aClaim();
      const answers = await Promise.all(Array.from({ length: 20 }, () => claims().claim(aClaim({ id }))));
      expect(new Set(answers.map(({ owner }) => owner)).size).toBe(1);
      expect(await existing(answers[0] as Claim)).toEqual(answers[0]);
    });

    it("keeps a claim and its answer when it is closed and opened again", async () => {
      const claim = await claimed();
      const answer = { tokens: 7, createdAtMs: 1_700_000_000_123 };
      await claims().answer({ ...claim, answer });
      await used.reopen();
      expect(await existing(claim)).toEqual({ ...claim, answer });
    });

    it("gives an expired key to the next that claims it", async () => {
      const old = await claimed({ claimedAtMs: Date.now() - 2 * HOUR_MS, expiresAtMs: Date.now() - HOUR_MS });
      await claims().answer({ ...old, answer: { tokens: 1, createdAtMs: 1 } });
      const young = aClaim({ id: old.id });
      expect(await claims().claim(young)).toEqual(young);
    });

    it("forgets expired keys in time, and no others", async () => {
      const kept = await claimed();
      for (let i = 0; i < 5; i++) await claimed({ expiresAtMs: Date.now() - HOUR_MS });
      await claimed();
      expect(await existing(kept)).toEqual(kept);
    });

    it("lets exactly one of several take over from the same owner", async () => {
      const claim = await claimed();
      const takeOver = (to: string) =>
        claims().takeOver({ id: claim.id, from: claim.owner, to, claimedAtMs: claim.claimedAtMs + 1 });
      const took = await Promise.all(["a", "b", "c", "d"].map(takeOver));
      expect(took.filter(Boolean)).toHaveLength(1);
      const owner = ["a", "b", "c", "d"][took.indexOf(true)] as string;
      expect(await existing(claim)).toEqual({ ...claim, owner, claimedAtMs: claim.claimedAtMs + 1 });
      expect(await takeOver("e")).toBe(false);
    });

    it("lets nobody take over what was answered", async () => {
      const claim = await claimed();
      await claims().answer({ ...claim, answer: { tokens: 1, createdAtMs: 2 } });
      expect(await claims().takeOver({ id: claim.id, from: claim.owner, to: "late", claimedAtMs: 3 })).toBe(
        false,
      );
      expect(await existing(claim)).toEqual({ ...claim, answer: { tokens: 1, createdAtMs: 2 } });
    });

    it("keeps the first of several answers, and returns it to all who gave one, however often it asks", async () => {
      const claim = await claimed();
      const answer = (owner: string, tokens: number) =>
        claims().answer({ id: claim.id, owner, answer: { tokens, createdAtMs: 2 } });
      const owners = ["a", "b", "c"];
      const kept = await Promise.all(owners.map((owner, i) => answer(owner, i)));
      const [valid] = kept as [ClaimAnswer];
      expect(new Set(kept.map((each) => each?.tokens)).size).toBe(1);
      const first = owners[valid.tokens] as string;
      expect(await Promise.all([answer(first, valid.tokens), answer("d", 7)])).toEqual([valid, valid]);
      expect(await existing(claim)).toMatchObject({ owner: first, answer: valid });
    });

    it("proves to its owner that the claim is still held", async () => {
      const claim = await claimed();
      const holds = (owner: string) =>
        claims().takeOver({ id: claim.id, from: owner, to: owner, claimedAtMs: claim.claimedAtMs + 5 });
      expect(await holds(claim.owner)).toBe(true);
      expect(await holds("somebody else")).toBe(false);
      expect((await existing(claim)).claimedAtMs).toBe(claim.claimedAtMs + 5);
    });

    it("keeps what of a batch is stored, whoever takes over after that", async () => {
      const claim = await claimed();
      const next = { id: claim.id, claimedAtMs: claim.claimedAtMs + 1 };
      expect(await claims().takeOver({ ...next, from: claim.owner, to: claim.owner, stored: [0, 2] })).toBe(
        true,
      );
      expect((await existing(claim)).stored).toEqual([0, 2]);
      expect(await claims().takeOver({ ...next, from: claim.owner, to: "b" })).toBe(true);
      expect(await existing(claim)).toMatchObject({ owner: "b", stored: [0, 2] });
    });

    it("frees a key for its owner only", async () => {
      const claim = await claimed();
      await claims().release({ id: claim.id, owner: "somebody else" });
      expect(await existing(claim)).toEqual(claim);
      await claims().release(claim);
      expect((await existing(claim)).owner).toBe("late");
    });

    it("passes over keys that nobody claimed", async () => {
      const { id, owner } = aClaim();
      await claims().answer({ id, owner, answer: { tokens: 1, createdAtMs: 1 } });
      await claims().release({ id, owner });
      expect(await claims().takeOver({ id, from: owner, to: "x", claimedAtMs: 1 })).toBe(false);
      const claim = aClaim({ id });
      expect(await claims().claim(claim)).toEqual(claim);
    });
  });
}
