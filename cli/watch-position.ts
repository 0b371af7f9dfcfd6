import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { UsageError } from "./failure.js";

/** A namespace of a server, and the address that its changes are posted to. A position holds for this pair only. */
export interface Watched {
  readonly server: string;
  readonly namespace: string;
  readonly post: string;
}

/** Path of the file for these, below the user's state folder (XDG_STATE_HOME). */
export function positionPath(watched: Watched, env: NodeJS.ProcessEnv): string {
  const state = env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  const name = createHash("sha256")
    .update(JSON.stringify(entriesOf(watched)))
    .digest("hex")
    .slice(0, 32);
  return join(state, "recalld", `watch-${name}.json`);
}

/**
 * The position behind which the watch goes on; undefined if there is no file yet.
 *
 * @throws UsageError if the file is of another watch, or no such file.
 */
export function readPosition(path: string, watched: Watched): string | undefined {
  try {
    const { position, ...saved } = JSON.parse(readFileSync(path, "utf8")) as Watched & { position: unknown };
    if (typeof position !== "string") throw new Error("it has no position");
    if (JSON.stringify(entriesOf(saved)) !== JSON.stringify(entriesOf(watched))) {
      throw new Error("it is of another server, namespace or receiver");
    }
    return position;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new UsageError(`${path} cannot be read as the position of this watch: ${(error as Error).message}`);
  }
}

/** Replaces the file in one step, on the disk: a crash leaves the position before, never half of one. */
export function writePosition(path: string, watched: Watched, position: string): void {
  const draft = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Addresses of receivers may have a secret in them.
    const file = openSync(draft, "w", 0o600);
    try {
      writeSync(file, `${JSON.stringify({ ...watched, position }, null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new UsageError(`${path} cannot be written: ${(error as Error).message}`);
  }
}

function entriesOf({ server, namespace, post }: Watched): readonly string[] {
  return [server, namespace, post];
}
