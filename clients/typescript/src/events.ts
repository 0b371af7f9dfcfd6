/** One event of `text/event-stream`. */
export interface ServerEvent {
  /** Its name; empty for a heartbeat, which only has an id. */
  readonly name: string;
  readonly id: string;
  readonly data: string;
}

/** Puts lines together to events, as HTML's `EventSource` does. An event that was cut off is not told. */
export async function* parseEvents(
  lines: AsyncGenerator<string, void, undefined>,
): AsyncGenerator<ServerEvent, void, undefined> {
  let fields: Record<string, string> = {};
  for await (const line of lines) {
    const { field, value } = fieldOf(line.replace(/\r$/, ""));
    if (field === undefined) {
      if (fields.id !== undefined || fields.data !== undefined) {
        yield { name: fields.event ?? "", id: fields.id ?? "", data: fields.data ?? "" };
      }
      fields = {};
    } else if (field === "data" && fields.data !== undefined) fields.data += `\n${value}`;
    else fields[field] = value;
  }
}

function fieldOf(line: string): { field?: string; value: string } {
  if (line === "") return { value: "" };
  const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
  return { field, value };
}
