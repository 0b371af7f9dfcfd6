import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { WatchEvent } from "../clients/typescript/src/index.js";
import { failureLine, UsageError } from "./failure.js";
import { asGiven, short } from "./output.js";
import { connect, HEADERS, type NamespaceOptions, serverOf } from "./profile.js";
import { deliver, PATIENCE, type Receiver, receiverGiven } from "./web-hook.js";
import { writeWhole } from "./write-file.js";

/** A namespace of a server, and the address that its changes are posted to. A position holds for this pair only. */
export interface Watched {
  readonly server: string;
  readonly namespace: string;
  readonly post: string;
}

/** Path of the file for these, below the user's state folder (XDG_STATE_HOME). */
function positionPath(watched: Watched): string {
  const state = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  const name = hash("sha256", nameOf(watched), "hex").slice(0, 32);
  return join(state, "recalld", `watch-${name}.json`);
}

/**
 * The position behind which the watch goes on; undefined if there is no file yet.
 *
 * @throws UsageError if the file is of another watch, or no such file.
 */
function readPosition(path: string, watched: Watched): string | undefined {
  try {
    const { position, ...saved } = JSON.parse(readFileSync(path, "utf8")) as Watched & { position: unknown };
    if (typeof position !== "string") throw new Error("it has no position");
    if (nameOf(saved) !== nameOf(watched)) {
      throw new Error("it is of another server, namespace or receiver");
    }
    return position;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new UsageError(`${path} cannot be read as the position of this watch: ${(error as Error).message}`);
  }
}

function nameOf({ server, namespace, post }: Watched): string {
  return JSON.stringify([server, namespace, post]);
}

interface Watching extends NamespaceOptions {
  readonly from?: string;
  readonly post?: string;
  readonly secret?: string;
  readonly state?: string;
  /** In the API's form of a duration, such as `90s`. */
  readonly giveUpAfter?: string;
}

/** Prints each change of a namespace until it is stopped. A watch that breaks off goes on where it was. */
export async function watch(given: Watching): Promise<void> {
  const { post, secret, state, giveUpAfter } = given;
  if (post === undefined) {
    const extra = Object.entries({ secret, state, "give-up-after": giveUpAfter });
    const [name] = extra.find(([, value]) => value !== undefined) ?? [];
    if (name !== undefined) throw new UsageError(`--${name} is for --post, which is missing`);
    for await (const change of changesOf(given, given.from)) {
      if (change.type !== "heartbeat") show(given, change);
    }
    return;
  }
  await postChanges(given, receiverGiven(post, secret || process.env.RECALLD_HOOK_SECRET));
}

/** Posts each change, one after another. Its position is written once the receiver has accepted it. */
async function postChanges(given: Watching, receiver: Receiver): Promise<void> {
  const { namespace, state, giveUpAfter } = given;
  const watched: Watched = { server: serverOf(given).url, namespace, post: receiver.url };
  const path = state || positionPath(watched);
  const giveUpAfterMs =
    giveUpAfter === undefined ? PATIENCE.giveUpAfterMs : Number.parseFloat(giveUpAfter) * 1000;
  const onRetry = (reason: string, pauseMs: number) =>
    console.error(failureLine(`not accepted (${reason}), again in ${(pauseMs / 1000).toFixed(1)} s`));
  const options = { headers: HEADERS, onRetry, patience: { ...PATIENCE, giveUpAfterMs } };
  let position = readPosition(path, watched);
  for await (const change of changesOf(given, position ?? given.from)) {
    if (change.type !== "heartbeat") {
      await deliver(JSON.stringify({ namespace, ...asWritten(change) }), receiver, options);
      show(given, change);
    }
    // The first heartbeat has the position where the watch begins: what comes after it is not missed any more.
    if (change.position !== position) writeWhole(path, { ...watched, position: change.position });
    position = change.position;
  }
}

function changesOf(given: NamespaceOptions, position: string | undefined): AsyncIterable<WatchEvent> {
  const { namespace } = given;
  return connect(given).watch({ namespace, position }, { giveUpAfterMs: Number.POSITIVE_INFINITY });
}

/** One line for each change, so that programs can read them one by one. */
function show({ json }: NamespaceOptions, change: WatchEvent): void {
  const { event, id = "", text } = labelled(change);
  console.log(
    json ? JSON.stringify(asWritten(change)) : [event.padEnd(7), id, short(text)].join("  ").trimEnd(),
  );
}

function asWritten(change: WatchEvent): object {
  const { event, ...about } = labelled(change);
  return asGiven({ event, position: change.position, ...about }) as object;
}

/** Label of a change. The stream has one kind for new memories and new versions; only the label differs. */
function labelled(change: WatchEvent): { event: string; id?: string; text?: string } {
  if (change.type === "deleted") return { event: change.type, id: change.id };
  if (change.type !== "stored") return { event: change.type };
  const { createdAt, updatedAt } = change.memory;
  return { event: updatedAt === createdAt ? "stored" : "updated", ...change.memory };
}
