import { execFile } from "node:child_process";
import { program } from "./program.js";

const ADMIN = program("admin");

export const RECALLD = program("recalld");

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs an operator's command to its end. */
export function admin(env: Record<string, string>, ...args: string[]): Promise<Ended> {
  return run(ADMIN, env, args);
}

/** Runs a user's command to its end. */
export function recalld(env: Record<string, string>, ...args: string[]): Promise<Ended> {
  return run(RECALLD, env, args);
}

function run(path: string, env: Record<string, string>, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [path, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}
