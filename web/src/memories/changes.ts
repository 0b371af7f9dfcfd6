import type { JsonObject } from "@bufbuild/protobuf";
import type { Memory } from "../api";
import { fromInput, toInput } from "./expiry";

/** A memory as it stands in a form. */
export interface Draft {
  readonly text: string;
  readonly metadata: JsonObject;
  /** Value of the input of the expiry. */
  readonly expires: string;
}

export function draftOf({ text, metadata = {}, expireTime }: Memory): Draft {
  return { text, metadata, expires: toInput(expireTime) };
}

/** Makes the fields of an update: only what differs, so that the rest stays as it is. */
export function changesOf(memory: Memory, { text, metadata, expires }: Draft) {
  const before = draftOf(memory);
  const expireTime = fromInput(expires);
  const changed = {
    text: text !== before.text,
    metadata: JSON.stringify(metadata) !== JSON.stringify(before.metadata),
    expire_time: expires !== before.expires,
  };
  const paths = Object.entries(changed).flatMap(([path, isChanged]) => (isChanged ? [path] : []));
  return {
    ...(changed.text && { text }),
    ...(changed.metadata && { metadata }),
    ...(changed.expire_time && expireTime && { expiry: { case: "expireTime" as const, value: expireTime } }),
    updateMask: { paths },
  };
}
