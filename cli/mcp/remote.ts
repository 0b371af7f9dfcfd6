import { randomUUID } from "node:crypto";
import { ProtocolError } from "@modelcontextprotocol/server";
import { type Posted, type Posting, post } from "../../clients/typescript/src/call.js";
import { systemClock } from "../../clients/typescript/src/clock.js";
import { RecalldError } from "../../clients/typescript/src/errors.js";
import { toWire } from "../../clients/typescript/src/json.js";
import { type CallOptions, settle, settleWithoutKey } from "../../clients/typescript/src/options.js";
import { retryAfterMs } from "../../clients/typescript/src/refusal.js";
import { withRetries } from "../../clients/typescript/src/retries.js";
import { MemoryError } from "../../src/errors.js";
import { VERSION } from "../../src/version.js";
import type { Server } from "../profile.js";

/** Further attempts of a call: within their pauses, a server that ends is replaced by another. */
const RETRIES = 7;

const HEADERS = {
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2025-11-25",
  "user-agent": `recalld-mcp/${VERSION}`,
};

export interface RemoteOptions {
  /** Finds the server to call; called again after a call has failed there. */
  find(): Promise<Server>;
  /** Query of the address, such as `?namespace=work`. */
  readonly query: string;
}

export interface Result {
  readonly isError?: boolean;
  readonly [more: string]: unknown;
}

/** The part of an answer of JSON-RPC that is read here. */
interface Answer {
  readonly result?: Result;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A server's `/mcp`, called for an agent that speaks through this process. */
export class Remote {
  #server: Promise<Server> | undefined;

  constructor(private readonly options: RemoteOptions) {}

  /**
   * Asks the server, with further attempts where another may succeed. All of them have one idempotency key,
   * so that a store whose answer was lost is not done twice.
   *
   * @throws RecalldError if there is no answer, ProtocolError if the answer is an error of the protocol.
   */
  async ask(method: string, params: object, signal: AbortSignal): Promise<Result> {
    const json = toWire({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { ...HEADERS, "idempotency-key": randomUUID() };
    const call = { clock: systemClock, retries: RETRIES, signal, requestId: randomUUID() };
    let refused: Result | undefined;
    try {
      return await withRetries(call, async () => {
        refused = undefined;
        const posted = await this.#post({ path: `/mcp${this.options.query}`, json, headers }, call);
        const { result, error } = posted.body as Answer;
        if (error !== undefined) throw new ProtocolError(error.code, error.message);
        if (result === undefined) throw new RecalldError("unknown", "the answer is not of MCP");
        const retryAfter = posted.headers.get("retry-after");
        if (result.isError !== true || retryAfter === null) return result;
        refused = result;
        throw new RecalldError("unavailable", "come back later", retryAfterMs(retryAfter));
      });
    } catch (error) {
      // The server's own words about the last attempt.
      if (refused !== undefined) return refused;
      throw error;
    }
  }

  /** Posts once to the server that was found, and forgets it if that fails. */
  async #post(posting: Posting, call: CallOptions): Promise<Posted> {
    this.#server ??= this.options.find();
    const found = this.#server;
    try {
      const { url, key } = await found;
      const at = { baseUrl: url };
      const settings = key === undefined ? settleWithoutKey(at, call) : settle({ ...at, apiKey: key }, call);
      return await post(posting, settings);
    } catch (error) {
      if (this.#server === found) this.#server = undefined;
      if (error instanceof RecalldError) throw error;
      const message = `the server cannot be reached: ${(error as Error).message}`;
      // A database of another format, for example, stays one.
      const code = error instanceof MemoryError ? error.code : "unavailable";
      throw new RecalldError(code, message, { cause: error });
    }
  }
}
