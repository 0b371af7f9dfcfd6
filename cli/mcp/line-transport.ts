import { setTimeout as sleep } from "node:timers/promises";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/server";
import { invalid, type MemoryError } from "../../src/errors.js";
import { linesIn } from "../../src/lines.js";
import { parseJson } from "../../src/parse-json.js";
import { readMessage } from "../../src/server/mcp/reading.js";
import type { Json } from "../../src/server/mcp/tools/tool.js";

/** Length of a message; the server takes less. */
const LINE_BYTES_MAX = 10_485_760;
/** Time for the calls that still run when the client sends nothing more; further attempts of one take as long. */
const LAST_CALLS_TIMEOUT_MS = 60_000;

export interface Streams {
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: NodeJS.WritableStream;
  readonly lastCallsTimeoutMs?: number;
}

/**
 * Passes messages, each on a line, between a client and the protocol. Unlike the package's own, it answers
 * what was read when the input ends, says which message it cannot read, and knows what reading has lost.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  #settle!: () => void;
  /** Settles when nothing more comes, and all that came is answered. */
  readonly closed = new Promise<void>((resolve) => {
    this.#settle = resolve;
  });
  /** Requests without an answer, each with what reading has lost of it. */
  readonly #unanswered = new Map<RequestId, MemoryError | undefined>();
  #isClosed = false;
  #onAnswer = () => {};

  constructor(private readonly streams: Streams) {}

  async start(): Promise<void> {
    const { output } = this.streams;
    // Nobody reads any more.
    output.on("error", (error) => {
      this.onerror?.(error);
      void this.close();
    });
    void this.#readAll();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#write(message);
    if (isJSONRPCResponse(message) && message.id !== undefined) this.#forget(message.id);
  }

  /** Returns what reading has lost of a request that is not answered yet. */
  lossOf(id: RequestId): MemoryError | undefined {
    return this.#unanswered.get(id);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
    this.#settle();
  }

  async #readAll(): Promise<void> {
    const { input, lastCallsTimeoutMs = LAST_CALLS_TIMEOUT_MS } = this.streams;
    try {
      for await (const { bytes } of linesIn(input, LINE_BYTES_MAX)) {
        if (this.#isClosed) return;
        await this.#take(bytes);
      }
      const answered = new Promise<void>((resolve) => {
        this.#onAnswer = () => this.#unanswered.size === 0 && resolve();
      });
      this.#onAnswer();
      await Promise.race([answered, sleep(lastCallsTimeoutMs)]);
    } catch (error) {
      this.onerror?.(error as Error);
    } finally {
      await this.close();
    }
  }

  async #take(line: Buffer): Promise<void> {
    if (line.every((byte) => byte <= 0x20)) return;
    try {
      if (line.length > LINE_BYTES_MAX) throw invalid("message", `is longer than ${LINE_BYTES_MAX} bytes`);
      const { message, loss } = await readMessage(line);
      if (!isMessage(message)) throw invalid("message", "is not one message of JSON-RPC");
      this.#note(message, loss);
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error as Error);
      await this.#refuse(line, error as Error);
    }
  }

  #note(message: JSONRPCMessage, loss: MemoryError | undefined): void {
    // A subscription is answered by what happens while it lasts.
    if (isJSONRPCRequest(message) && message.method !== "subscriptions/listen")
      this.#unanswered.set(message.id, loss);
    // What is cancelled is not answered.
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      this.#forget(message.params?.requestId as RequestId);
    }
  }

  #forget(id: RequestId): void {
    this.#unanswered.delete(id);
    this.#onAnswer();
  }

  /** Responds to a message that is none. A notification has no answer. */
  async #refuse(line: Buffer, { message }: Error): Promise<void> {
    const read = roughly(line);
    if (read !== undefined && read.id === undefined && read.method !== undefined) return;
    const error = { code: ProtocolErrorCode.ParseError, message };
    await this.#write({ jsonrpc: "2.0", id: idOf(read), error });
  }

  /** Settles when a message has left the process: what is only buffered would end with it. */
  async #write(message: object): Promise<void> {
    if (this.#isClosed) return;
    await new Promise<void>((resolve, reject) => {
      this.streams.output.write(`${JSON.stringify(message)}\n`, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  }
}

function isMessage(message: unknown): message is JSONRPCMessage {
  return isJSONRPCRequest(message) || isJSONRPCNotification(message) || isJSONRPCResponse(message);
}

/** Reads a message as far as tells whose answer its refusal is. */
function roughly(line: Buffer): Json | undefined {
  try {
    return parseJson(new TextDecoder().decode(line)) as Json;
  } catch {
    return undefined;
  }
}

function idOf(read: Json | undefined): RequestId | null {
  const id = read?.id;
  return typeof id === "string" || Number.isSafeInteger(id) ? (id as RequestId) : null;
}
