import type { PlainPath, ServeOptions } from "../plain/served.js";
import { type BodyRoom, bodyRoomKey } from "../rpc/body-room.js";
import { browserContextOf, contextOf } from "../rpc/caller.js";
import { JSON_TYPE } from "../wire/plain-errors.js";

/** Maximum size of a request: addresses and a name, or a code and its verifier. */
export const BODY_BYTES_MAX = 16_384;

/** Path of OAuth that takes a body, of JSON unless it says another type. */
export interface OAuthPath extends Omit<PlainPath, "method" | "contextOf"> {
  /** True if the session of the portal counts there. */
  readonly fromPortal?: boolean;
}

export interface OAuthPathOptions extends ServeOptions {
  readonly bodyRoom: BodyRoom;
}

/** Completes a path by its method, its type, and what its requests are known by. */
export function plainPathOf({ fromPortal, ...path }: OAuthPath, options: OAuthPathOptions): PlainPath {
  const valuesOf = fromPortal ? browserContextOf : contextOf;
  const contextFor: PlainPath["contextOf"] = ({ raw }) => {
    const values = valuesOf(raw).set(bodyRoomKey, options.bodyRoom);
    return { requestHeader: new Headers(), responseHeader: new Headers(), values };
  };
  return { type: JSON_TYPE, ...path, method: "POST", contextOf: contextFor };
}
