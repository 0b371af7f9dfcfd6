import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { VERSION } from "../version.js";
import { errorIn, type Json, reasonOf, type Server } from "./client.js";
import { CallError } from "./failure.js";

/**
 * Reads an answer that comes line by line, for as long as it takes.
 *
 * @throws CallError with the server's own code and words; `unavailable` if it cannot be reached, or broke off.
 */
export async function* linesOf(
  { url, key }: Server,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): AsyncGenerator<string> {
  const sent = { "user-agent": `recalld-cli/${VERSION}`, authorization: `Bearer ${key}`, ...headers };
  const address = `${url.replace(/\/$/, "")}${path}`;
  try {
    const response = await fetch(address, { headers: sent });
    if (!response.ok) throw await refusalIn(response);
    if (response.body === null) return;
    const input = Readable.fromWeb(response.body as never);
    let failure: unknown;
    input.on("error", (error) => {
      failure = error;
    });
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
    if (failure !== undefined) throw failure;
  } catch (error) {
    if (error instanceof CallError) throw error;
    throw new CallError("unavailable", `${new URL(url).origin} broke off: ${reasonOf(error)}`);
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
