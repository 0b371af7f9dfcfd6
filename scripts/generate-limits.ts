import { readFileSync, writeFileSync } from "node:fs";
import { withLimits } from "./limits.js";

// usage: generate-limits.ts PAGE. Writes the tables of limits into it.
const [page] = process.argv.slice(2);
if (page === undefined) throw new Error("usage: generate-limits.ts PAGE");
writeFileSync(page, withLimits(readFileSync(page, "utf8")));
