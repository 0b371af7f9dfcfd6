#!/usr/bin/env node
import { modelOf } from "./compose/models.js";
import { type Config, ConfigError, loadConfig } from "./config/config.js";
import { checkModel } from "./embedding/check-model.js";
import { describeConvention } from "./embedding/convention/describe-convention.js";
import { listModels, type ModelSummary, summarise } from "./embedding/download/list-models.js";
import { BUNDLED, folderOf, locateModel } from "./embedding/download/locate.js";
import { missingFiles } from "./embedding/download/model-files.js";
import { openEmbedder } from "./embedding/open.js";
import { MemoryError } from "./errors.js";
import { commandLine } from "./operator/command-line.js";

const program = commandLine({ name: "npm run -s model --", exitCode: 1 }).addHelpText(
  "after",
  "\nThe exit code is 0 when all is well, else 1. The settings are the server's: MODELS_DIR, MODELS_HUB,\n" +
    "and for the model that MODEL names, MODEL_POOLING, MODEL_QUERY_PREFIX and MODEL_PASSAGE_PREFIX.",
);
program
  .command("pull <ID>")
  .description("downloads a model, such as Xenova/all-MiniLM-L6-v2, or the files that are missing")
  .action((id: string) => run(pull, id));
program
  .command("list")
  .description("shows the bundled model and all in MODELS_DIR; * is the one that MODEL names")
  .action(() => run(list));
program
  .command("check [ID]")
  .description(
    "verifies a model's files and the form of its vectors; without an id, the one that MODEL names",
  )
  .action((id?: string) => run(check, id));

/** Does a command on a model and tells whether all is well. It needs no database, and a server may run. */
type Run = (config: Config, model: string) => Promise<boolean>;

async function run(command: Run, id?: string): Promise<void> {
  const config = loadConfig(process.env);
  process.exitCode = (await command(config, id ?? config.model)) ? 0 : 1;
}

/** Returns a model's settings; its convention is configured only if it is the one that MODEL names. */
function placeOf(config: Config, model: string) {
  const { settings, ...place } = modelOf(config);
  return { ...place, model, ...(model === config.model && { settings }) };
}

async function pull(config: Config, model: string): Promise<boolean> {
  const place = placeOf(config, model);
  const lacking = await missingFiles(folderOf(place));
  await locateModel(place);
  const summary = await summarise(place);
  console.log(`${model} ${lacking.length > 0 ? "is" : "was there already,"} in ${summary.folder}`);
  for (const line of describe(summary)) console.log(`  ${line}`);
  return true;
}

async function list(config: Config): Promise<boolean> {
  const models = await listModels(config.modelsDir);
  for (const model of models) {
    console.log(`${model === config.model ? "*" : " "} ${model}`);
    for (const line of await describeOrSay(placeOf(config, model))) console.log(`    ${line}`);
  }
  if (models.includes(config.model)) return true;
  console.log(`MODEL is ${config.model}, which is not in ${config.modelsDir}: it is downloaded at the start`);
  return true;
}

/** Describes a model, or its problem, so that a damaged folder does not hide the other models. */
async function describeOrSay(place: ReturnType<typeof placeOf>): Promise<string[]> {
  try {
    const lacking = await missingFiles(folderOf(place));
    return lacking.length > 0 ? [`lacks ${lacking.join(", ")}`] : describe(await summarise(place));
  } catch (error) {
    if (error instanceof MemoryError) return [error.message];
    throw error;
  }
}

function describe({ bytes, dimensions, revision, found, manifest }: ModelSummary): string[] {
  const { commit, hub } = manifest ?? {};
  return [
    `${(bytes / 1e6).toFixed(1)} MB, ${dimensions ?? "?"} dimensions, window ${found.convention.windowTokens} tokens`,
    `revision ${revision.slice(0, 12)}${hub === undefined ? "" : `, from ${hub}${commit ? ` at ${commit.slice(0, 12)}` : ""}`}`,
    ...describeConvention(found),
  ];
}

async function check(config: Config, model: string): Promise<boolean> {
  const place = placeOf(config, model);
  const lacking = await missingFiles(folderOf(place));
  if (lacking.length > 0) {
    console.log(`problem: ${folderOf(place)} lacks ${lacking.join(", ")}`);
    if (model !== BUNDLED) console.log(`npm run -s model -- pull ${model} downloads it`);
    return false;
  }
  const summary = await summarise(place);
  console.log(`${model} in ${summary.folder}`);
  for (const line of describe(summary)) console.log(`  ${line}`);
  if (!checkFiles(summary)) return false;
  const embedder = await openEmbedder({ ...place, workers: 1 });
  let isGood = true;
  try {
    for await (const { kind, text } of checkModel(embedder)) {
      console.log(kind === "fact" ? `  ${text}` : `${kind}: ${text}`);
      isGood &&= kind !== "problem";
    }
  } finally {
    await embedder.close();
  }
  console.log(isGood ? "all is well" : "there are problems");
  return isGood;
}

/** Reports whether a model's files are as they were downloaded. */
function checkFiles({ manifest, damaged }: ModelSummary): boolean {
  for (const file of damaged) console.log(`problem: ${file} does not match its hash`);
  if (manifest === undefined) console.log("  files not verified, no manifest");
  else if (damaged.length === 0)
    console.log(`  ${Object.keys(manifest.files).length} files are as they were downloaded`);
  return damaged.length === 0;
}

function fail(lines: readonly unknown[]): never {
  for (const line of lines) console.error(line);
  process.exit(1);
}

program.parseAsync().catch((error: unknown) => {
  if (error instanceof ConfigError) fail(error.problems.map((problem) => `recalld: ${problem}`));
  fail(error instanceof MemoryError ? [`recalld: ${error.message}`] : ["recalld:", error]);
});
