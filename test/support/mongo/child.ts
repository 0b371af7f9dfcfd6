import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { within } from "../../../src/storage/within.js";

const START_TIMEOUT_MS = 30_000;

/** Starts a server that prints `ready PORT` once it listens, and ends when its input does. */
export async function startChild(command: string, args: readonly string[], cwd: string) {
  const child = spawn(command, args, { cwd, stdio: ["pipe", "pipe", "ignore"] });
  try {
    return { child, port: await within(START_TIMEOUT_MS, portOf(child)) };
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

/** Reads the port that it reports. */
async function portOf(child: ChildProcess & { stdout: NodeJS.ReadableStream }): Promise<number> {
  const ended = once(child, "exit").then(() => {
    throw new Error("it ended at once");
  });
  const [line] = await Promise.race([once(child.stdout, "data"), ended]);
  return Number(/^ready (\d+)/.exec(String(line))?.[1]);
}

/** Kills a process with kill -9, unless it has ended. */
export async function killChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
