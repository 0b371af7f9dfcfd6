import type { JsonObject } from "@bufbuild/protobuf";
import type { Chance } from "../../support/chance.js";
import type { Content, Modelled } from "./model.js";

export const EXTERNAL_IDS = ["x", "y", "é/z"];
const ON_CONFLICT = ["REFUSE", "REPLACE", "REPLACE", "KEEP"];

/** A memory to store, and what should become of it. */
export interface StoreRequest {
  readonly sent: { text: string } & JsonObject;
  /** Takes the memory into the content; answers the code that the store should have. */
  expect(id: string | undefined): string;
}

/** Makes a memory to store: plain, with an external id, or in place of another. */
export function storeRequest({ chance, content }: { chance: Chance; content: Content }): StoreRequest {
  const text = chance.text();
  const kind = chance.next();
  if (kind < 0.5) return { sent: { text }, expect: (id) => added(content, id, { text, superseded: false }) };
  if (kind < 0.75) return requestWithExternalId(chance, content);
  return requestToSupersede(chance, content);
}

function added(content: Content, id: string | undefined, memory: Modelled): string {
  if (id !== undefined) content.memories.set(id, memory);
  return "ok";
}

function requestWithExternalId(chance: Chance, content: Content): StoreRequest {
  const text = chance.text();
  const [externalId, onConflict] = [chance.pick(EXTERNAL_IDS), chance.pick(ON_CONFLICT)];
  const sent = { text, external_id: externalId, on_conflict: onConflict };
  const expect = (id: string | undefined) => {
    const [heldId, held] = content.currentByExternalId(externalId) ?? [];
    if (held === undefined || heldId === undefined) {
      return added(content, id, { text, externalId, superseded: false });
    }
    if (onConflict === "REFUSE") return "already_exists";
    if (onConflict === "REPLACE" && held.superseded) return "failed_precondition";
    if (id !== heldId) throw new Error(`${externalId} is ${heldId}, and ${id} was answered`);
    if (onConflict === "REPLACE") held.text = text;
    return "ok";
  };
  return { sent, expect };
}

function requestToSupersede(chance: Chance, content: Content): StoreRequest {
  const text = chance.text();
  const ids = [...content.memories.keys()];
  const old = ids.length === 0 ? undefined : chance.pick(ids);
  const expect = (id: string | undefined) => {
    const memory = old === undefined ? undefined : content.memories.get(old);
    if (memory?.superseded) return "failed_precondition";
    if (memory !== undefined) memory.superseded = true;
    return added(content, id, { text, superseded: false });
  };
  return { sent: { text, ...(old !== undefined && { supersedes: [old] }) }, expect };
}
