import { once } from "node:events";
import { importFile, lineOf } from "../importing/import-file.js";
import { ProgressLine } from "../progress.js";
import type { Json } from "./client.js";
import { EXIT } from "./exit.js";
import { openTarget } from "./export-file.js";
import { CallError } from "./failure.js";
import { linesOf } from "./lines.js";
import { print } from "./output.js";
import { type In, serverWithKey } from "./service.js";

const PROGRESS = { redrawMs: 100, lineEveryMs: 5_000 };

/** Writes a namespace's export into a file, or to the standard output. */
export async function exportTo({
  namespace,
  file,
  vectors,
  ...common
}: In & { file?: string; vectors?: boolean }): Promise<void> {
  const server = serverWithKey(common);
  const path = `/namespaces/${encodeURIComponent(namespace)}/export`;
  const lines = linesOf(server, `${path}${vectors ? "?include_vectors=true" : ""}`);
  if (file === undefined) {
    // The lines themselves are the answer.
    await writeLines(lines, process.stdout);
    return;
  }
  const progress = new ProgressLine(process.stderr, PROGRESS);
  const show = (count: number) => progress.show(`${count.toLocaleString("en-US")} memories`);
  const target = openTarget(file);
  try {
    const count = await writeLines(lines, target.stream, show);
    await target.commit();
    progress.end();
    print(common, { file, memories: count }, () => [`${count} memories are in ${file}`]);
  } finally {
    progress.end();
    target.discard();
  }
}

/** Writes lines as they come. Returns the number of memories. @throws CallError if the export is not whole */
async function writeLines(
  lines: AsyncIterable<string>,
  output: NodeJS.WritableStream,
  show: (count: number) => void = () => {},
): Promise<number> {
  let [last, count] = ["", 0];
  for await (const line of lines) {
    if (!output.write(`${line}\n`)) await once(output, "drain");
    last = line;
    show(count++);
  }
  return ended(last).count;
}

/** @throws CallError if this is not the last line of a whole export. */
function ended(line: string): { count: number } {
  const { count, error } = parsed(line);
  if (typeof count === "number") return { count };
  const { code = "unavailable", message = "the export is not complete" } = (error ?? {}) as Json;
  throw new CallError(String(code), String(message));
}

function parsed(line: string): Json {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return {};
  }
}

/** The import names its errors by codes, as the server does. */
function rethrow(error: Error & { code?: unknown }): never {
  throw typeof error.code === "string" ? new CallError(error.code, error.message) : error;
}

/** Stores what another program, or an export, has in a file. */
export async function importFrom(
  file: string,
  { namespace, from, dryRun = false, ...common }: In & { from?: string; dryRun?: boolean },
): Promise<void> {
  const progress = new ProgressLine(process.stderr, PROGRESS);
  const report = await importFile({
    ...{ file, from, namespace },
    server: dryRun ? undefined : serverWithKey(common),
    show: (line) => progress.show(line),
  })
    .catch(rethrow)
    .finally(() => progress.end());
  const { problems, ...counts } = report;
  const listed = problems.map(({ sourceId, ...rest }) => ({ source_id: sourceId, ...rest }));
  const done = dryRun ? "nothing was stored; it would be " : "";
  print(common, { ...counts, problems: listed }, () => [`${done}${lineOf(report)}`]);
  for (const { place, sourceId, result, message } of problems) {
    console.error(`recalld: ${result}: ${place}: ${sourceId}: ${message}`);
  }
  const more = report.skipped + report.refused - problems.length;
  if (more > 0) console.error(`recalld: and ${more} more`);
  if (problems.length > 0) process.exitCode = EXIT.failed;
}
