import type { Memory, WatchNamespaceRequest } from "./contract.js";
import { RecalldError } from "./errors.js";
import { parseEvents, type ServerEvent } from "./events.js";
import { checkRequest, fromWire, parsed } from "./json.js";
import type { CallOptions, Settings } from "./options.js";
import { errorOf, type Refusal } from "./refusal.js";
import { pauseMs, RETRY_AFTER_MS_MAX, sleep } from "./retries.js";
import { openStream } from "./stream.js";

/** One change of a namespace, or a sign of life. */
export type WatchEvent = {
  /** Where a watch goes on after this event, on any replica. */
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

/** Yields a namespace's changes. A watch that breaks goes on after the last event that was told. */
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
      const retryAfterMs = Math.min(error.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX);
      await sleep(pauseMs(failures, retryAfterMs), settings);
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
  let hasEvents = false;
  for await (const event of parseEvents(lines)) {
    hasEvents = true;
    if (event.name === "failure") throw errorOf(parsed(event.data, { requestId }) as Refusal, { requestId });
    const read = eventOf(event, requestId);
    if (read !== undefined) yield read;
  }
  // Such as a proxy's page: it would be asked for again for ever, and nobody would know.
  if (!hasEvents)
    throw new RecalldError("unavailable", "the watch ended before its first event", { requestId });
}

/** Reads an event; undefined if it is of a kind that this version does not know. */
function eventOf({ name, id: position, data }: ServerEvent, requestId: string): WatchEvent | undefined {
  if (name === "") return { type: "heartbeat", position };
  if (name === "dropped") return { type: "dropped", position };
  if (name !== "stored" && name !== "deleted") return undefined;
  const memory = parsed(data, { requestId });
  if (name === "deleted") return { type: name, position, id: (memory as { id: string }).id };
  return { type: name, position, memory: fromWire(memory) as Memory };
}
