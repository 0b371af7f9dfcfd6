import { memoryClient } from "../session/client";

/** Lines that are kept apart before they are put together: a browser keeps large blobs outside its memory. */
const LINES_TOGETHER = 1_000;

export interface ExportOptions {
  readonly signal: AbortSignal;
  /** Called now and then with the number of memories so far. */
  onProgress(memories: number): void;
}

/** Reads a namespace's export to its end; fails if it is not complete. */
export async function exportNamespace(
  namespace: string,
  { signal, onProgress }: ExportOptions,
): Promise<Blob> {
  const blobs: Blob[] = [];
  let lines: string[] = [];
  let count = 0;
  for await (const { line } of memoryClient.exportMemories({ namespace }, { signal })) {
    lines.push(`${line}\n`);
    if (++count % LINES_TOGETHER !== 0) continue;
    blobs.push(new Blob(lines));
    lines = [];
    onProgress(count);
  }
  return new Blob([...blobs, ...lines], { type: "application/x-ndjson" });
}
