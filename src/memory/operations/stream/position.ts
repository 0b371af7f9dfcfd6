import { invalid, MemoryError } from "../../../errors.js";
import type { LivingLog } from "../../log/living-log.js";
import { baseOf } from "../../ports/model-version.js";
import { listIn, tokenOf } from "../../requests/page.js";

/**
 * Place in the history of a namespace: behind an entry of its log, or after the end of a log, where the next
 * one begins. A log and its copies in other model versions share their positions.
 */
export interface Position {
  /** The part of a log's id that it shares with its copies; empty before a namespace's first log. */
  readonly base: string;
  /** The number of the last entry that was seen. */
  readonly after: number | "end";
  /** The id of the operation that wrote that entry: after a restored backup, another may have its number. */
  readonly opId?: string | undefined;
}

/** Position of a namespace that has no log: its first one is read from the start. */
export const BEFORE_ALL: Position = { base: "", after: "end" };

/** Position behind the last entry of a log. */
export function positionAfter({ logId, last, opId, dropped }: LivingLog): Position {
  return dropped ? { base: baseOf(logId), after: "end" } : { base: baseOf(logId), after: last, opId };
}

const BASE = /^[\da-f]{1,64}$/;

/** Makes the token of a position, which only this program reads. */
export function positionToken({ base, after, opId }: Position): string {
  return tokenOf(opId === undefined ? [base, after] : [base, after, opId]);
}

/**
 * Reads a token; undefined if it is empty, which means the present. `field` names it in the refusal.
 *
 * @throws MemoryError `invalid_argument`
 */
export function parsePosition(token: string, field = "position"): Position | undefined {
  if (token === "") return undefined;
  const [base, after, opId, ...more] = listIn(token) ?? [];
  const isNumber = Number.isSafeInteger(after) && Number(after) >= 0;
  const isBase = typeof base === "string" && (BASE.test(base) || (base === "" && after === "end"));
  const isMark = opId === undefined || (typeof opId === "string" && isNumber);
  if (!isBase || (after !== "end" && !isNumber) || !isMark || more.length > 0) {
    throw invalid(field, "is none that a watch or an export gave; leave it out to begin now");
  }
  return { base, after: after as Position["after"], opId: opId as Position["opId"] };
}

/** Makes the refusal of a position whose log is not the namespace's. */
export function positionGone(): MemoryError {
  const message =
    "the position is of another namespace, of one that was dropped since, or ahead of a restored backup; " +
    "leave it out to begin now";
  return new MemoryError("failed_precondition", message, { reason: "POSITION_GONE" });
}
