import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

/** Expected hash of a file's content. `git-blob` is the SHA-1 by which git names a file. */
export interface Digest {
  readonly kind: "sha256" | "git-blob";
  readonly hex: string;
}

export async function digestOf(path: string, kind: Digest["kind"]): Promise<Digest> {
  const hash = createHash(kind === "sha256" ? "sha256" : "sha1");
  if (kind === "git-blob") hash.update(`blob ${(await stat(path)).size}\0`);
  await pipeline(createReadStream(path), hash);
  return { kind, hex: hash.digest("hex") };
}
