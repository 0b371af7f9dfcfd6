import { rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MemoryError } from "../../errors.js";
import { asObject, readJson } from "../convention/model-json.js";
import { type Digest, digestOf } from "./digest.js";
import { partOf } from "./remainder.js";

/** Name of the record that a download leaves beside a model's files; a folder copied by hand has none. */
const MANIFEST_FILE = "recalld-manifest.json";

export interface FileRecord {
  readonly bytes: number;
  readonly digest: Digest;
  /** Whether the hub named the hash; if not, it is the hash of the received content. */
  readonly vouched: boolean;
}

/** Record of the files that were downloaded for a model, and of their source. */
export interface ModelManifest {
  readonly model: string;
  readonly hub: string;
  /** Commit of the model's repository. */
  readonly commit?: string;
  readonly files: Readonly<Record<string, FileRecord>>;
}

export async function readManifest(folder: string): Promise<ModelManifest | undefined> {
  const manifest = await readJson(folder, MANIFEST_FILE);
  if (manifest === undefined || isManifest(manifest)) return manifest;
  throw new MemoryError("failed_precondition", `${join(folder, MANIFEST_FILE)} is not as it was written`);
}

function isManifest(value: unknown): value is ModelManifest {
  const { model, hub, commit = "", files } = asObject(value) ?? {};
  const records = Object.values(asObject(files) ?? {}).map(asObject);
  return (
    [model, hub, commit].every((each) => typeof each === "string") &&
    asObject(files) !== undefined &&
    records.every((record) => {
      const { kind, hex } = asObject(record?.digest) ?? {};
      return (
        Number.isInteger(record?.bytes) && /^sha256$|^git-blob$/.test(`${kind}`) && typeof hex === "string"
      );
    })
  );
}

/**
 * Records downloaded files. Another process may write at the same moment, so each writes all of its own
 * files every time: the last writer then omits nothing that it downloaded itself.
 */
export async function noteDownloads(folder: string, downloads: ModelManifest): Promise<void> {
  const before = await readManifest(folder);
  const manifest: ModelManifest = {
    ...before,
    ...downloads,
    files: { ...before?.files, ...downloads.files },
  };
  const path = join(folder, MANIFEST_FILE);
  const draft = partOf(path);
  await writeFile(draft, `${JSON.stringify(manifest, null, 2)}\n`);
  await rename(draft, path);
}

/** Checks a model's files against the record, and returns a line for each problem. */
export async function damageOf(folder: string, { files }: ModelManifest): Promise<string[]> {
  const damage: string[] = [];
  for (const [file, { bytes, digest }] of Object.entries(files)) {
    const path = join(folder, file);
    const size = await stat(path).then(
      (found) => found.size,
      () => undefined,
    );
    if (size === undefined) damage.push(`${file} is missing`);
    else if (size !== bytes) damage.push(`${file} is ${size} bytes; ${bytes} were downloaded`);
    else if ((await digestOf(path, digest.kind)).hex !== digest.hex)
      damage.push(`${file} does not match its hash`);
  }
  return damage;
}
