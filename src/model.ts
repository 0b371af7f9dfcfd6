#!/usr/bin/env node
import { createReadStream } from "node:fs";
import { commandLine, endWithReader } from "./admin/command-line.js";
import { modelOf } from "./compose/models.js";
import { type Config, linesOnFailure, loadConfig } from "./config/config.js";
import { checkModel } from "./embedding/check-model.js";
import { describeConvention } from "./embedding/models/find-convention.js";
import {
  BUNDLED,
  folderOf,
  listModels,
  locateModel,
  type ModelSummary,
  summarise,
} from "./embedding/models/locate.js";
import { missingFiles } from "./embedding/models/model-files.js";
import { openEmbedder } from "./embedding/open.js";
import { measureModel, readTrial, tableOf } from "./embedding/try-model.js";
import { count, failedPrecondition, MemoryError, messageOf } from "./errors.js";
import { linesIn } from "./lines.js";
import { isRemote } from "./memory/ports/embedder.js";
import { scoreOf } from "./memory/search/score.js";

const program = commandLine({ name: "npm run -s model --", exitCode: 1 }).addHelpText(
  "after",
  "\nThe exit code is 0 when all is well, else 1. The settings are the server's: MODELS_DIR, MODELS_HUB,\n" +
    "for the model that MODEL names, MODEL_POOLING, MODEL_QUERY_PREFIX and MODEL_PASSAGE_PREFIX, and for\n" +
    "openai:NAME those of EMBED_….",
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
program
  .command("try <FILE> [ID]")
  .description("measures what MODEL names, and a model beside it, on memories and questions of your own")
  .addHelpText(
    "after",
    "\nFILE has lines of JSON: memories, as `recalld export` writes them, and questions of the form\n" +
      '{"query": "…", "relevant": ["an id, external id or text", …]}. Without questions, the last words of\n' +
      "each text stand for one. With openai:NAME the texts are sent to EMBED_URL. Nothing is stored.",
  )
  .action((file: string, id?: string) => run((config, model) => tryModels(config, { file, model }), id));

/** Does a command on a model; true if all is well. It needs no database, and a server may run. */
type Run = (config: Config, model: string) => Promise<boolean>;

async function run(command: Run, id?: string): Promise<void> {
  const config = loadConfig(process.env);
  process.exitCode = (await command(config, id ?? config.model)) ? 0 : 1;
}

async function pull(config: Config, model: string): Promise<boolean> {
  const options = modelOf(config, model);
  const lacking = await missingFiles(folderOf(options));
  await locateModel(options);
  const summary = await summarise(options);
  console.log(`${model} ${lacking.length > 0 ? "is" : "was there already,"} in ${summary.folder}`);
  for (const line of describe(summary)) console.log(`  ${line}`);
  return true;
}

async function list(config: Config): Promise<boolean> {
  const models = await listModels(config.modelsDir);
  for (const model of models) {
    console.log(`${model === config.model ? "*" : " "} ${model}`);
    for (const line of await describeOrSay(modelOf(config, model))) console.log(`    ${line}`);
  }
  if (models.includes(config.model)) return true;
  if (isRemote(config.model)) console.log(`* ${config.model}\n    on the server that EMBED_URL names`);
  else
    console.log(
      `MODEL is ${config.model}, which is not in ${config.modelsDir}: it is downloaded at the start`,
    );
  return true;
}

/** Describes a model, or its problem, so that a damaged folder does not hide the other models. */
async function describeOrSay(options: ReturnType<typeof modelOf>): Promise<string[]> {
  try {
    const lacking = await missingFiles(folderOf(options));
    return lacking.length > 0 ? [`lacks ${lacking.join(", ")}`] : describe(await summarise(options));
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
  const options = modelOf(config, model);
  if (!isRemote(model) && !(await checkFolder(options))) return false;
  const embedder = await openEmbedder({ ...options, workers: 1 });
  if (isRemote(model)) {
    console.log(`${model}, ${embedder.model.dimensions} dimensions`);
    for (const line of describeConvention(embedder.convention)) console.log(`  ${line}`);
  }
  let isGood = true;
  try {
    for await (const found of checkModel(embedder)) {
      console.log("fact" in found ? `  ${found.fact}` : `problem: ${found.problem}`);
      isGood &&= "fact" in found;
    }
  } finally {
    await embedder.close();
  }
  console.log(isGood ? "all is well" : "there are problems");
  return isGood;
}

/** Describes a model's folder; true if all files are there and as they were downloaded. */
async function checkFolder(options: ReturnType<typeof modelOf>): Promise<boolean> {
  const { model } = options;
  const lacking = await missingFiles(folderOf(options));
  if (lacking.length > 0) {
    console.log(`problem: ${folderOf(options)} lacks ${lacking.join(", ")}`);
    if (model !== BUNDLED) console.log(`npm run -s model -- pull ${model} downloads it`);
    return false;
  }
  const summary = await summarise(options);
  const { folder, manifest, damaged } = summary;
  console.log(`${model} in ${folder}`);
  for (const line of describe(summary)) console.log(`  ${line}`);
  for (const file of damaged) console.log(`problem: ${file} does not match its hash`);
  if (manifest === undefined) console.log("  files not verified, no manifest");
  else if (damaged.length === 0)
    console.log(`  ${Object.keys(manifest.files).length} files are as they were downloaded`);
  return damaged.length === 0;
}

/** Measures a model beside the one that MODEL names, one after the other. */
async function tryModels(config: Config, { file, model }: { file: string; model: string }): Promise<boolean> {
  const trial = await readTrial(linesOf(file));
  const [memories, questions] = [trial.texts, trial.questions].map(({ length }) => count(length));
  console.log(`${memories} memories and ${questions} questions of ${file}`);
  if (trial.isMadeUp) {
    console.log("It has no questions, so the last words of a text are to find it. That is easier than what");
    console.log("people ask: it shows which model is better, not how good one is.");
  }
  const measured = [];
  for (const each of new Set([config.model, model])) {
    const embedder = await openEmbedder({ ...modelOf(config, each), workers: config.embedWorkers });
    const measuring = measureModel(embedder, trial, scoreOf).finally(() => embedder.close());
    measured.push({ model: each, ...(await measuring) });
  }
  for (const line of tableOf(measured)) console.log(line);
  return true;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  try {
    for await (const { bytes } of linesIn(createReadStream(file))) yield bytes.toString();
  } catch (error) {
    throw failedPrecondition(`${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

endWithReader();
program.parseAsync().catch((error: unknown) => {
  for (const line of linesOnFailure("recalld", error)) console.error(line);
  process.exit(1);
});
