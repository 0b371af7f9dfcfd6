import type { IncomingHttpHeaders } from "node:http";

/** Converts the headers of a request to those of the web, which know nothing of HTTP/2's own (`:authority`). */
export function webHeaders(headers: IncomingHttpHeaders): Headers {
  const converted = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(":") && value !== undefined) converted.set(name, String(value));
  }
  return converted;
}
