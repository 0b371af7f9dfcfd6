import { modelOf } from "../src/compose/models.js";
import { loadConfig } from "../src/config/config.js";
import type { ConventionSettings } from "../src/embedding/models/find-convention.js";
import { PARAPHRASES } from "./paraphrase-set.js";
import { isToldApart, tellApart } from "./tell-apart.js";

// Tests whether a model tells what answers a question from what does not, and whether its prefixes help. The
// settings are the server's. The server's compiled program is used, because threads cannot load TypeScript.
const { openEmbedder }: typeof import("../src/embedding/open.js") = await import(
  new URL("../dist/src/embedding/open.js", import.meta.url).href
);
const config = loadConfig(process.env);
const [model = config.model] = process.argv.slice(2);
const { settings, ...place } = modelOf(config, model);
const open = (given: ConventionSettings = {}) =>
  openEmbedder({
    ...place,
    workers: 1,
    settings: { ...settings, ...given },
  });

const asRead = await open();
const { queryPrefix, passagePrefix } = asRead.convention.convention;
const hasPrefixes = queryPrefix !== "" || passagePrefix !== "";
const bare = hasPrefixes ? await open({ queryPrefix: "", passagePrefix: "" }) : undefined;
const known: string[] = [];
for (const [language, paraphrases] of Object.entries(PARAPHRASES)) {
  for (const [embedder, how] of [
    [asRead, ""] as const,
    ...(bare ? [[bare, " without prefixes"] as const] : []),
  ]) {
    const apart = await tellApart(embedder, paraphrases);
    const { right, questions, own, other, separation } = apart;
    console.log(
      `${language}${how}: ${right} of ${questions} answers score above all others; ${own.toFixed(2)} with their ` +
        `question, ${other.toFixed(2)} with others, ${separation.toFixed(1)} standard deviations apart`,
    );
    if (embedder === asRead && isToldApart(apart)) known.push(language);
  }
}
await bare?.close();
await asRead.close();
console.log(
  known.length > 0 ? `${model} reads ${known.join(", ")}` : `${model} reads none of these languages`,
);
if (known.length === 0) process.exitCode = 1;
