import { type Line, OtherFormatError, type Source } from "../../../cli/import/imported.js";
import { parseForeignJson } from "../../../cli/import/readers/json.js";
import { failedPrecondition, MemoryError } from "../../../src/errors.js";

/** Maximum length of a line in characters: a memory takes 1.6 million with its metadata. */
const LINE_CHARS_MAX = 4_000_000;
/** Maximum size of a file that is one JSON value, which is held whole, and more than once. */
const JSON_BYTES_MAX = 256_000_000;

/** A file that was chosen or dropped, as the readers of the command line take it. */
export function sourceOf(file: Blob): Source {
  let json: Promise<unknown> | undefined;
  return {
    lines: () => linesOf(file),
    json: () => {
      json ??= jsonOf(file);
      return json;
    },
  };
}

async function* linesOf(file: Blob): AsyncGenerator<Line> {
  let number = 0;
  let rest = "";
  for await (const text of textOf(file)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LINE_CHARS_MAX)
      throw failedPrecondition(
        `line ${number + lines.length + 1} has more than ${LINE_CHARS_MAX} characters`,
      );
    for (const line of lines) yield { number: ++number, text: line.replace(/\r$/, "") };
  }
  if (rest !== "") yield { number: ++number, text: rest };
}

async function jsonOf(file: Blob): Promise<unknown> {
  if (file.size > JSON_BYTES_MAX) {
    throw failedPrecondition(
      `the file is ${file.size} bytes; the portal reads at most ${JSON_BYTES_MAX}. Use recalld import`,
    );
  }
  let text = "";
  for await (const part of textOf(file)) text += part;
  try {
    return parseForeignJson(text);
  } catch (error) {
    throw new OtherFormatError("the file is not JSON", error);
  }
}

/** Decodes a file chunk by chunk, without its byte order mark. @throws MemoryError `invalid_argument` if it is not UTF-8 */
async function* textOf(file: Blob): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  // Not every browser can iterate over a stream.
  const reader = file.stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      yield decoded(decoder, value);
      if (done) return;
    }
  } finally {
    // A reader of another format stops at the beginning.
    await reader.cancel();
  }
}

function decoded(decoder: TextDecoder, bytes: Uint8Array | undefined): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch (error) {
    throw new MemoryError("invalid_argument", "the file is not UTF-8; save it as UTF-8", { cause: error });
  }
}
