import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { contractModule } from "./client/types.js";

// usage: generate-client.ts FOLDER. Writes contract.ts there.
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: generate-client.ts FOLDER");
writeFileSync(join(folder, "contract.ts"), contractModule());
