import { createContextKey } from "@connectrpc/connect";

/** Name by which a watch's position was given, for its refusal; set where a header gives it. */
export const positionNameKey = createContextKey<string | undefined>(undefined, {
  description: "name of the position",
});
