import type { ErrorCode, ExportMemoriesRequest, Metadata } from "./contract.js";
import { RecalldError } from "./errors.js";
import { checkRequest, fromWire, parsed } from "./json.js";
import type { Settings } from "./options.js";
import { errorOf } from "./refusal.js";
import { openStream } from "./stream.js";

/** A memory as an export has it. */
export interface ExportedMemory {
  readonly id: string;
  readonly text: string;
  readonly metadata: Metadata;
  readonly createdAt: string;
  readonly tokens: number;
  /** When it happened, if it was stored with an event time. */
  readonly eventTime?: string;
  /** Base64 of each window's float32 numbers, in little-endian order; only if asked for. */
  readonly vectors?: readonly string[];
  /** Begin and end of each window; only of texts that have several. */
  readonly windows?: readonly (readonly [number, number])[];
}

/** Longest silence: the server reads a slice of the log between two memories. */
const SILENCE_MS = 60_000;

/** A namespace as of one position. */
export class Export implements AsyncIterable<ExportedMemory> {
  readonly #request: ExportMemoriesRequest;
  readonly #settings: Settings;

  constructor(request: ExportMemoriesRequest, settings: Settings) {
    this.#request = request;
    this.#settings = settings;
  }

  /**
   * Gives the lines as the server writes them, without their ends: to keep as a file that `recalld import`
   * reads. The first says what it is, the last has the count and a checksum.
   *
   * @throws RecalldError if the export ends before its last line.
   */
  async *lines(): AsyncGenerator<string, void, undefined> {
    checkRequest(this.#request);
    const { namespace, includeVectors = false, filter } = this.#request;
    const query: Record<string, string> = {
      ...(includeVectors && { include_vectors: "true" }),
      ...(filter !== undefined && { filter: JSON.stringify(filter) }),
    };
    const wanted = { path: "export", namespace, query, silenceMs: SILENCE_MS };
    const { lines, requestId } = await openStream(wanted, this.#settings);
    let number = -1;
    for await (const line of lines) {
      const { error, count } = parsed(line, { requestId }) as Ending;
      if (error !== undefined) throw errorOf(error, { requestId });
      yield line;
      if (count !== undefined) {
        if (count === number) return;
        throw new RecalldError("data_loss", `${number} of ${count} memories came`, { requestId });
      }
      number++;
    }
    throw new RecalldError("unavailable", "the export ended before its last line", { requestId });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ExportedMemory, void, undefined> {
    for await (const line of this.lines()) {
      const read = fromWire(JSON.parse(line)) as Partial<ExportedMemory>;
      if (read.id !== undefined) yield read as ExportedMemory;
    }
  }
}

/** Fields that only the last line has. */
interface Ending {
  readonly count?: number;
  readonly error?: { readonly code: ErrorCode; readonly message?: string };
}
