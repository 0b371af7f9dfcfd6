import { MemoryError } from "../../errors.js";
import { nonEmptyLogOf } from "../log/living-log.js";
import type { Measured, MemoryHeader } from "../ports/log.js";
import { authorizeFree } from "../requests/authorize.js";
import { newest, oldest, type Step } from "./page-of-memories.js";
import type { NamespaceRequest, Ports } from "./ports.js";

export interface NamespaceDetails extends Measured {
  /**
   * Times when the first and the last memory that lists show were stored, or changed last; undefined if none is
   * near that end.
   */
  readonly firstAtMs: number | undefined;
  readonly lastAtMs: number | undefined;
}

/**
 * Gets what a namespace holds, and when its oldest and newest memories were written. Costs nothing.
 *
 * @throws MemoryError `not_found`
 */
export async function getNamespace(ports: Ports, request: NamespaceRequest): Promise<NamespaceDetails> {
  const scope = await authorizeFree(ports, request, { writes: false });
  const held = await nonEmptyLogOf(ports, scope);
  if (held === undefined) throw noSuchNamespace();
  const measured = await ports.log.measure(held);
  if (measured.memories === 0) return { ...measured, firstAtMs: undefined, lastAtMs: undefined };
  const walk = { logId: held.logId, last: held.last, projection: "header" } as const;
  return {
    ...measured,
    firstAtMs: await firstWrittenAt(oldest(ports, walk)),
    lastAtMs: await firstWrittenAt(newest(ports, walk)),
  };
}

export function noSuchNamespace(): MemoryError {
  return new MemoryError("not_found", "there is no namespace with this name");
}

/** When the first memory of a walk was written: lists have the memories in the order of these times. */
async function firstWrittenAt(steps: AsyncIterable<Step<number, MemoryHeader>>): Promise<number | undefined> {
  for await (const { entry } of steps) if (entry !== undefined) return entry.updatedAtMs ?? entry.createdAtMs;
  return undefined;
}
