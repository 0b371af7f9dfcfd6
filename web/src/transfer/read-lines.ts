/** Maximum length of a line in characters: the largest memory is 1.6 MB with its metadata. */
const LINE_MAX = 4_000_000;

/** Reads a file line by line, as UTF-8. Answers each line, and how many bytes of the file are read. */
export async function* readLines(file: Blob): AsyncGenerator<{ line: string; bytes: number }> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  let bytes = 0;
  for await (const chunk of chunksOf(file)) {
    bytes += chunk.length;
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LINE_MAX) throw new Error(`A line has more than ${LINE_MAX} characters.`);
    for (const line of lines) yield { line, bytes };
  }
  rest += decoder.decode();
  if (rest !== "") yield { line: rest, bytes };
}

// Not every browser can iterate over a stream.
async function* chunksOf(file: Blob): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
