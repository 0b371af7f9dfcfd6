import { VERSION } from "../version.js";
import { errorIn, type Json, reasonOf, type Server } from "./client.js";
import { CallError } from "./failure.js";

/** Longest line: a memory with all its vectors takes some megabytes. */
const LINE_CHARACTERS_MAX = 67_108_864;

/**
 * Reads an answer that comes line by line, for as long as it takes. Lines end at a line feed alone: all else
 * that Unicode knows as a line's end may stand in a text.
 *
 * @throws CallError with the server's own code and words; `unavailable` if it cannot be reached, or broke off.
 */
export async function* linesOf(
  { url, key }: Server,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): AsyncGenerator<string> {
  const sent = { "user-agent": `recalld-cli/${VERSION}`, authorization: `Bearer ${key}`, ...headers };
  try {
    const response = await fetch(`${url}${path}`, { headers: sent, redirect: "manual" });
    if (!response.ok) throw await refusalIn(response);
    if (response.body === null) return;
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of response.body) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > LINE_CHARACTERS_MAX) throw new CallError("internal", "a line is too long");
      yield* lines;
    }
    if (rest !== "") yield rest;
  } catch (error) {
    if (error instanceof CallError) throw error;
    throw new CallError("unavailable", `${url} broke off or cannot be reached: ${reasonOf(error)}`);
  }
}

async function refusalIn(response: Response): Promise<CallError> {
  try {
    return errorIn((await response.json()) as Json, response);
  } catch {
    // A proxy answers in its own words.
    const requestId = response.headers.get("x-request-id") ?? undefined;
    return new CallError("unavailable", `the server answers ${response.status}`, requestId);
  }
}
