import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import { pythonContract } from "./client/python.js";
import { pythonCalls } from "./client/python-calls.js";
import { contractModule } from "./client/types.js";
import { readServices } from "./openapi/contract.js";

// usage: generate-client.ts FOLDER. Writes the generated files of both clients below it.
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: generate-client.ts FOLDER");
const services = readServices();
const service = services.find(({ name }) => name === "MemoryService") as DescService;
const texts = {
  "typescript/src/contract.ts": contractModule(services),
  "python/src/recalld/_contract.py": pythonContract(service),
  "python/src/recalld/_calls.py": pythonCalls(service),
};
for (const [path, text] of Object.entries(texts)) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
