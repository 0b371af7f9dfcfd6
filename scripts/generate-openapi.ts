import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openapiModule } from "./openapi/document.js";

// usage: generate-openapi.ts FOLDER. Writes openapi.ts there.
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: generate-openapi.ts FOLDER");
writeFileSync(join(folder, "openapi.ts"), openapiModule());
