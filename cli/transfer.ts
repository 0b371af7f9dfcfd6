import { once } from "node:events";
import { ProgressLine } from "../src/progress.js";
import { connect, type In } from "./connect.js";
import { EXIT } from "./exit.js";
import { openTarget } from "./export-file.js";
import { importFile, lineOf } from "./import/import-file.js";
import { grouped, print } from "./output.js";

const PROGRESS = { redrawMs: 100, lineEveryMs: 5_000 };
/** Further attempts of an import's calls: a server may be started anew meanwhile. */
const IMPORT_RETRIES = 10;

/** Writes a namespace's export into a file, or to the standard output. */
export async function exportTo({
  namespace,
  file,
  vectors: includeVectors,
  ...given
}: In & { file?: string; vectors?: boolean }): Promise<void> {
  const lines = connect(given).export({ namespace, includeVectors }).lines();
  if (file === undefined) {
    // The lines themselves are the answer.
    await writeLines(lines, process.stdout);
    return;
  }
  const progress = new ProgressLine(process.stderr, PROGRESS);
  const target = openTarget(file);
  try {
    const count = await writeLines(lines, target.stream, (count) =>
      progress.show(`${grouped(count)} memories`),
    );
    await target.commit();
    progress.end();
    print(given, { file, memories: count }, () => [`${count} memories are in ${file}`]);
  } finally {
    progress.end();
    target.discard();
  }
}

/** Writes lines as they come. Returns the number of memories, which stand between the first and the last line. */
async function writeLines(
  lines: AsyncIterable<string>,
  output: NodeJS.WritableStream,
  show: (count: number) => void = () => {},
): Promise<number> {
  let count = -2;
  for await (const line of lines) {
    if (!output.write(`${line}\n`)) await once(output, "drain");
    count++;
    if (count > 0) show(count);
  }
  return count;
}

/** Stores what another program, or an export, has in a file. */
export async function importFrom(
  file: string,
  { namespace, from, dryRun = false, ...given }: In & { from?: string; dryRun?: boolean },
): Promise<void> {
  const progress = new ProgressLine(process.stderr, PROGRESS);
  const report = await importFile({
    ...{ file, from, namespace },
    server: dryRun ? undefined : connect(given, { retries: IMPORT_RETRIES }),
    show: (line) => progress.show(line),
  }).finally(() => progress.end());
  const { problems, ...counts } = report;
  const done = dryRun ? "nothing was stored; it would be " : "";
  print(given, { ...counts, problems }, () => [`${done}${lineOf(report)}`]);
  for (const { place, sourceId, result, message } of problems) {
    console.error(`recalld: ${result}: ${place}: ${sourceId}: ${message}`);
  }
  const more = report.skipped + report.refused - problems.length;
  if (more > 0) console.error(`recalld: and ${more} more`);
  if (problems.length > 0) process.exitCode = EXIT.failed;
}
