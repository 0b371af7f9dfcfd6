import { invalid } from "../../errors.js";
import { jsonIn, type Reading } from "../plain/body.js";
import { shown } from "../wire/json-text.js";

const BODY_BYTES_MAX = 1_024;

/** A request for a session. */
export interface SessionRequest {
  /** Whether it outlives the browser. */
  readonly stay: boolean;
}

/** Reads the request for a session. @throws MemoryError `invalid_argument` or `resource_exhausted`. */
export async function readSessionRequest(of: Omit<Reading, "bytesMax">): Promise<SessionRequest> {
  const { stay = false, ...others } = await jsonIn({ ...of, bytesMax: BODY_BYTES_MAX });
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid(shown(other), "is not a field of this request; there is stay");
  if (typeof stay !== "boolean") throw invalid("stay", "is neither true nor false");
  return { stay };
}
