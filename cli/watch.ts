import type { WatchEvent } from "../clients/typescript/src/index.js";
import { connect, type In } from "./connect.js";
import { asGiven, short } from "./output.js";

/** Prints each change of a namespace until it is stopped. A watch that breaks off goes on where it was. */
export async function watch({ namespace, from, ...given }: In & { from?: string }): Promise<void> {
  const giveUpAfterMs = Number.POSITIVE_INFINITY;
  for await (const change of connect(given).watch({ namespace, position: from }, { giveUpAfterMs })) {
    if (change.type === "heartbeat") continue;
    const { event, ...about } = shown(change);
    const { id = "", text } = about;
    // One line for each change, so that programs can read them one by one.
    console.log(
      given.json
        ? JSON.stringify(asGiven({ event, position: change.position, ...about }))
        : [event.padEnd(7), id, short(text)].join("  ").trimEnd(),
    );
  }
}

/** Label of a change. The stream has one kind for new memories and new versions; only the label differs. */
function shown(change: WatchEvent): { event: string; id?: string; text?: string } {
  if (change.type === "deleted") return { event: change.type, id: change.id };
  if (change.type !== "stored") return { event: change.type };
  const { createdAt, updatedAt } = change.memory;
  return { event: updatedAt === createdAt ? "stored" : "updated", ...change.memory };
}
