import { randomBytes } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { failedPrecondition } from "../../errors.js";
import { asObject, readJson } from "./model-json.js";

/** Name of the record that a download leaves beside a model's files; a folder copied by hand has none. */
const MANIFEST_FILE = "recalld-manifest.json";

/** Record of the files that were downloaded for a model, and of their source. */
export interface ModelManifest {
  readonly model: string;
  readonly hub: string;
  /** Commit of the model's repository; absent if the hub names none. */
  readonly commit?: string | undefined;
  /** SHA-256 in hex of each file as it came first. */
  readonly files: Readonly<Record<string, string>>;
}

export async function readManifest(folder: string): Promise<ModelManifest | undefined> {
  const manifest = await readJson(folder, MANIFEST_FILE);
  if (manifest === undefined || isManifest(manifest)) return manifest;
  throw failedPrecondition(`${join(folder, MANIFEST_FILE)} is not as it was written`);
}

function isManifest(value: unknown): value is ModelManifest {
  const { model, hub, commit = "", files } = asObject(value) ?? {};
  const hashes = asObject(files);
  return (
    [model, hub, commit].every((each) => typeof each === "string") &&
    hashes !== undefined &&
    Object.values(hashes).every((hash) => /^[0-9a-f]{64}$/.test(`${hash}`))
  );
}

export function writeManifest(folder: string, manifest: ModelManifest): Promise<void> {
  return writeWhole(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Writes a file that is never seen in part, also if another process writes it at the same moment. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const draft = `${path}.tmp.${randomBytes(4).toString("hex")}`;
  await writeFile(draft, content);
  await rename(draft, path);
}
