import { createHash } from "node:crypto";
import type { Command } from "commander";
import type { OnSecret } from "../clients/typescript/src/index.js";
import { counted, memoriesOf } from "../src/errors.js";
import { PAGE_SIZE_MAX } from "../src/memory/requests/page.js";
import { ProgressLine } from "../src/progress.js";
import { EXIT, failureLine, UsageError } from "./failure.js";
import { importFile, lineOf } from "./import/import-memories.js";
import { ACCOUNT_FORMAT, ACCOUNT_VERSION } from "./import/readers/recalld.js";
import { print, short } from "./output.js";
import { connect, type NamespaceOptions } from "./profile.js";
import { openTarget, writeLines } from "./write-file.js";

const PROGRESS = { redrawMs: 100, lineEveryMs: 5_000 };
/** Further attempts of each of many calls: a server may be started anew meanwhile. */
const RETRIES = 10;

interface Exporting extends NamespaceOptions {
  readonly file?: string;
  readonly vectors?: boolean;
  readonly all?: boolean;
  readonly prefix?: string;
}

export async function exportTo(
  { namespace, file, vectors: includeVectors, all, prefix, ...given }: Exporting,
  command: Command,
): Promise<void> {
  if (prefix !== undefined && !all) throw new UsageError("--prefix needs --all");
  if (all && isChosen(command)) throw new UsageError("--all exports all namespaces: leave out --namespace");
  // One call for each namespace may come to the limit of the key's rate.
  const server = connect(given, { ...(all && { retries: RETRIES }) });
  let namespaces = 0;
  /**
   * The namespaces that the key may read, as lines without their ends: what it is, the export of each namespace as
   * ExportMemories gives it, in the order of their names' bytes, and the number of namespaces and of their lines with
   * the SHA-256 of all lines before. Each namespace is as of a position of its own.
   */
  const accountLines = async function* () {
    const hash = createHash("sha256");
    const hashed = (line: string) => {
      hash.update(line).update("\n");
      return line;
    };
    const about = { prefix: prefix ?? "", exported_at: new Date().toISOString() };
    yield hashed(JSON.stringify({ format: ACCOUNT_FORMAT, version: ACCOUNT_VERSION, ...about }));
    let lines = 0;
    for await (const { namespace } of server.namespaces({ prefix, pageSize: PAGE_SIZE_MAX })) {
      namespaces++;
      for await (const line of server.export({ namespace, includeVectors }).lines()) {
        lines++;
        yield hashed(line);
      }
    }
    yield JSON.stringify({ namespaces, lines, sha256: hash.digest("hex") });
  };
  const lines = all ? accountLines() : server.export({ namespace, includeVectors }).lines();
  if (file === undefined) {
    // The lines themselves are the answer.
    await writeLines(lines, process.stdout);
    return;
  }
  const progress = new ProgressLine(process.stderr, PROGRESS);
  const target = openTarget(file);
  try {
    // The first and the last line, also of each namespace, are no memories.
    const memoriesIn = (lines: number) => lines - 2 - 2 * namespaces;
    const count = memoriesIn(
      await writeLines(lines, target.stream, (count) => {
        const memories = memoriesIn(count);
        if (memories > 0) progress.show(memoriesOf(memories));
      }),
    );
    await target.commit();
    progress.end();
    const where = all ? ` of ${counted(namespaces, "namespace")}` : "";
    print(given, { file, memories: count, ...(all && { namespaces }) }, () => [
      `${memoriesOf(count)}${where} ${count === 1 ? "is" : "are"} in ${file}`,
    ]);
  } finally {
    progress.end();
    target.discard();
  }
}

/** True if the line names the namespace, which else is the environment's or the default. */
function isChosen(command: Command): boolean {
  return command.getOptionValueSource("namespace") === "cli";
}

export async function importFrom(
  file: string,
  {
    namespace,
    from,
    dryRun = false,
    onSecret,
    ...given
  }: NamespaceOptions & { from?: string; dryRun?: boolean; onSecret?: OnSecret },
  command: Command,
): Promise<void> {
  const progress = new ProgressLine(process.stderr, PROGRESS);
  const wouldBe = dryRun ? "nothing was stored; it would be " : "";
  const report = await importFile({
    file,
    from,
    namespace,
    onSecret,
    isChosen: isChosen(command),
    server: dryRun ? undefined : connect(given, { retries: RETRIES }),
    show: (line) => progress.show(wouldBe + line),
  }).finally(() => progress.end());
  const { problems, ...counts } = report;
  print(given, { ...counts, problems }, () => [wouldBe + lineOf(report)]);
  for (const { location, sourceId, result, message } of problems) {
    console.error(failureLine(`${result}: ${location}: ${short(sourceId)}: ${message}`));
  }
  const more = report.skipped + report.refused - problems.length;
  if (more > 0) console.error(`recalld: and ${more} more`);
  if (problems.length > 0) process.exitCode = EXIT.failed;
}
