import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { importFile, lineOf } from "../importing/import-file.js";
import { ProgressLine } from "../progress.js";
import type { Json } from "./client.js";
import { EXIT } from "./exit.js";
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
  const query = vectors ? "?include_vectors=true" : "";
  // The lines themselves are the answer, unless they go into a file.
  const output = file === undefined ? process.stdout : createWriteStream(file);
  const progress = new ProgressLine(process.stderr, PROGRESS);
  let lines = 0;
  let last = "";
  try {
    for await (const line of linesOf(server, `${path}${query}`)) {
      if (!output.write(`${line}\n`)) await once(output, "drain");
      last = line;
      if (file !== undefined) progress.show(`${(lines++).toLocaleString("en-US")} memories`);
    }
    const { count } = ended(last);
    progress.end();
    if (file === undefined) return;
    output.end();
    await finished(output);
    print(common, { file, memories: count }, () => [`${count} memories are in ${file}`]);
  } finally {
    progress.end();
  }
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
