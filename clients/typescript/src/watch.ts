import type { Memory, WatchNamespaceRequest } from "./contract.js";
import { RecalldError } from "./errors.js";
import { parseEvents, type ServerEvent } from "./events.js";
import { checkRequest, fromWire } from "./json.js";
import type { CallOptions, Settings } from "./options.js";
import { errorOf } from "./refusal.js";
import { pauseMs, sleep } from "./retries.js";
import { openStream } from "./stream.js";

/** One change of a namespace, or a sign of life. */
export type WatchEvent = {
  /** Where a watch goes on behind this event, on any replica. */
  readonly position: string;
} & (
  | { readonly type: "stored"; readonly memory: Memory }
  | { readonly type: "deleted"; readonly id: string }
  | { readonly type: "dropped" }
  /** Nothing happened for 15 seconds, or the watch begins here. */
  | { readonly type: "heartbeat" }
);

export interface WatchOptions extends CallOptions {
  /** Time for which a watch that broke is tried again, in milliseconds; 300,000 when left out. */
  readonly giveUpAfterMs?: number | undefined;
}

const GIVE_UP_AFTER_MS = 300_000;
/** The server gives a sign of life every 15 seconds: three that are missing are a broken connection. */
const SILENCE_MS = 45_000;

/** Yields a namespace's changes. A watch that breaks goes on behind the last event that was told. */
export async function* watch(
  request: WatchNamespaceRequest,
  settings: Settings,
  giveUpAfterMs = GIVE_UP_AFTER_MS,
): AsyncGenerator<WatchEvent, void, undefined> {
  checkRequest(request);
  const { namespace } = request;
  let { position } = request;
  let brokenAtMs: number | undefined;
  for (let failures = 0, hasBegun = false; ; failures++) {
    try {
      // Once it has begun, this loop is what tries again.
      const tried = hasBegun ? { ...settings, retries: 0 } : settings;
      for await (const event of eventsFrom({ namespace, position }, tried)) {
        hasBegun = true;
        failures = 0;
        brokenAtMs = undefined;
        position = event.position;
        yield event;
      }
    } catch (error) {
      if (!(error instanceof RecalldError) || !error.retryable || !hasBegun) throw error;
      brokenAtMs ??= settings.clock.now();
      if (settings.clock.now() - brokenAtMs >= giveUpAfterMs) throw error;
      await sleep(pauseMs(failures, error.retryAfterMs), settings);
      continue;
    }
    // The server stops, and said so.
    await sleep(pauseMs(failures), settings);
  }
}

async function* eventsFrom(
  { namespace, position }: WatchNamespaceRequest,
  settings: Settings,
): AsyncGenerator<WatchEvent, void, undefined> {
  const query: Record<string, string> = position === undefined ? {} : { position };
  const wanted = { path: "events", namespace, query, silenceMs: SILENCE_MS };
  const { lines, requestId } = await openStream(wanted, settings);
  for await (const event of parseEvents(lines)) {
    if (event.name === "failure") throw errorOf(JSON.parse(event.data), { requestId });
    const read = eventOf(event);
    if (read !== undefined) yield read;
  }
}

/** Reads an event; undefined if it is of a kind that this version does not know. */
function eventOf({ name, id: position, data }: ServerEvent): WatchEvent | undefined {
  if (name === "") return { type: "heartbeat", position };
  if (name === "dropped") return { type: "dropped", position };
  if (name === "stored") return { type: "stored", position, memory: fromWire(JSON.parse(data)) as Memory };
  if (name === "deleted") return { type: "deleted", position, id: (JSON.parse(data) as { id: string }).id };
  return undefined;
}
