import {
  closeSync,
  createWriteStream,
  fsyncSync,
  lstatSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { constants } from "node:os";
import { dirname, resolve } from "node:path";
import { finished, pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import { makeFolder } from "../src/make-folder.js";
import { orUsageError, UsageError } from "./failure.js";

/** Links that are followed, as the system does. */
const LINKS_MAX = 40;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Age at which the lock of a file is that of a process that died: others hold it for milliseconds. */
const LOCK_MS_MAX = 5_000;
const LOCK_POLL_MS = 20;

/**
 * Replaces a file of JSON in one step, on the disk, so that no reader and no crash sees half of it. Only its owner may
 * read it, because keys, and addresses of receivers, are secrets.
 *
 * @throws UsageError if it cannot be written.
 */
export function writeWhole(path: string, json: object): void {
  const target = followLinks(path, path);
  const draft = `${target}.${process.pid}`;
  try {
    makeFolder(dirname(target));
    writeFileSync(draft, `${JSON.stringify(json, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new UsageError(`${path} cannot be written: ${(error as Error).message}`);
  }
}

/**
 * Does what reads a file and replaces it, while no other process does: each would undo what the other has changed.
 *
 * @throws UsageError if there can be no file.
 */
export async function withLock(path: string, work: () => void): Promise<void> {
  const lock = `${path}.lock`;
  try {
    makeFolder(dirname(path));
    while (!tryLock(lock)) await pause(LOCK_POLL_MS);
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${(error as Error).message}`);
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function tryLock(lock: string): boolean {
  try {
    closeSync(openSync(lock, "wx", 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const removing = `${lock}.stale`;
  if (isStale(lock) && tryLock(removing)) {
    // Another may have removed it meanwhile, and hold the lock now.
    if (isStale(lock)) rmSync(lock, { force: true });
    rmSync(removing, { force: true });
  }
  return false;
}

/** True for a lock that is too old, or from a time that has not come: the clock was ahead. */
function isStale(lock: string): boolean {
  const held = statSync(lock, { throwIfNoEntry: false });
  return held !== undefined && Math.abs(Date.now() - held.mtimeMs) > LOCK_MS_MAX;
}

/**
 * Opens a file for what comes piece by piece. It is written beside the target and gets its name when all of it
 * is there, so that a failure or a signal leaves the old file. A pipe or a device is written to as it is.
 *
 * @throws UsageError if it cannot be written.
 */
export function openTarget(file: string) {
  const target = followLinks(file, `--file ${file}`);
  const old = statSync(file, { throwIfNoEntry: false });
  const isWhole = old === undefined || old.isFile();
  // A link to a pipe, such as /dev/stdout, leads to what is no path.
  const path = isWhole ? target : file;
  const written = isWhole ? `${path}.${process.pid}.part` : path;
  const fd = orUsageError(`--file ${file} cannot be written`, () => {
    if (old?.isDirectory()) throw new Error("it is a folder");
    // The draft may be made although the old file is protected.
    if (old?.isFile()) closeSync(openSync(path, "r+"));
    return openSync(written, "w", old?.isFile() ? old.mode & 0o777 : 0o666);
  });
  const stream = createWriteStream("", { fd, flush: isWhole });
  const ignoreSignals = () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  const discard = () => {
    ignoreSignals();
    stream.destroy();
    // After a commit, no file has this name.
    if (isWhole) rmSync(written, { force: true });
  };
  const onSignal = (signal: NodeJS.Signals) => {
    discard();
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  stream.on("error", () => {}); // The write that waits for it throws it, or the commit.
  return {
    stream,
    discard,
    commit: async () => {
      stream.end();
      await finished(stream);
      ignoreSignals();
      if (!isWhole) return;
      renameSync(written, path);
      syncFolder(dirname(path));
    },
  };
}

/** Writes lines as they come. Returns their number. */
export async function writeLines(
  lines: AsyncIterable<string>,
  output: NodeJS.WritableStream,
  show: (count: number) => void = () => {},
): Promise<number> {
  let count = 0;
  const ended = async function* () {
    for await (const line of lines) {
      yield `${line}\n`;
      show(++count);
    }
  };
  await pipeline(ended, output, { end: false });
  return count;
}

/** Path behind symbolic links, also if nothing is there yet. */
function followLinks(file: string, name: string): string {
  let path = resolve(file);
  for (let i = 0; i < LINKS_MAX; i++) {
    if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path;
    path = resolve(dirname(path), readlinkSync(path));
  }
  throw new UsageError(`${name} cannot be written: its links lead in a circle`);
}

/** Makes a rename last. Some systems cannot open folders. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
