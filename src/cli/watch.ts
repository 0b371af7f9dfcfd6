import { setTimeout as sleep } from "node:timers/promises";
import type { Json } from "./client.js";
import { CallError } from "./failure.js";
import { linesOf } from "./lines.js";
import { short } from "./output.js";
import { type In, serverWithKey } from "./service.js";

/** Pauses before a watch is begun again, the last one again and again. */
const PAUSES_MS = [500, 1_000, 2_000, 5_000, 10_000];

interface Event {
  readonly name: string;
  readonly position: string | undefined;
  readonly data: Json | undefined;
}

/** Prints each change of a namespace until it is stopped. A watch that breaks off goes on where it was. */
export async function watch({ namespace, from, ...common }: In & { from?: string }): Promise<void> {
  const server = serverWithKey(common);
  const path = `/namespaces/${encodeURIComponent(namespace)}/events`;
  let position = from;
  for (let failures = 0; ; failures++) {
    try {
      const headers: Record<string, string> = position === undefined ? {} : { "last-event-id": position };
      for await (const event of eventsIn(linesOf(server, path, headers))) {
        failures = 0;
        position = event.position ?? position;
        if (event.name === "failure") throw failureIn(event);
        if (event.data === undefined) continue;
        // One line for each change, so that programs can read them one by one.
        console.log(common.json ? JSON.stringify(shown(event)) : lineOf(event));
      }
    } catch (error) {
      if (!(error instanceof CallError && error.code === "unavailable")) throw error;
      if (failures === 0) console.error(`recalld: ${error.message}; it is tried again`);
    }
    await sleep(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] as number);
  }
}

/** Puts the lines of a `text/event-stream` together. */
async function* eventsIn(lines: AsyncIterable<string>): AsyncGenerator<Event> {
  let fields: Record<string, string> = {};
  for await (const line of lines) {
    const [, field, value] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
    if (field !== undefined) fields[field] = value ?? "";
    if (line !== "") continue;
    const { event = "message", id: position, data } = fields;
    yield { name: event, position, data: data === undefined ? undefined : (JSON.parse(data) as Json) };
    fields = {};
  }
}

function failureIn({ data }: Event): CallError {
  return new CallError(String(data?.code), String(data?.message));
}

function shown(event: Event): Json {
  return { event: changeIn(event), position: event.position, ...event.data };
}

/** Name of the change: the stream names new memories and new versions alike. */
function changeIn({ name, data = {} }: Event): string {
  const isUpdate = name === "stored" && data.updated_at !== undefined && data.updated_at !== data.created_at;
  return isUpdate ? "updated" : name;
}

function lineOf(event: Event): string {
  const { data = {} } = event;
  return [changeIn(event).padEnd(7), data.id ?? "", short(data.text)].join("  ").trimEnd();
}
