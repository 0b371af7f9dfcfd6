// node scripts/compress-web.js: writes a .br and a .gz beside every file of dist/web that they make smaller.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** Size below which a file is not compressed: it and its headers fit one packet. */
const BYTES_MIN = 1024;
const COMPRESSED = /\.(br|gz|tgz|png|webp|woff2)$/;
const level = constants.Z_BEST_COMPRESSION;

for (const entry of readdirSync("dist/web", { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (!entry.isFile() || COMPRESSED.test(path) || statSync(path).size < BYTES_MIN) continue;
  const before = statSync(`${path}.gz`, { throwIfNoEntry: false });
  if (before !== undefined && before.mtimeMs >= statSync(path).mtimeMs) continue;
  const bytes = readFileSync(path);
  writeFileSync(`${path}.br`, brotliCompressSync(bytes));
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level }));
}
