import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { pythonEnvironment } from "../compare/python-environment.js";
import type { Workspace } from "./service.js";

const START_TIMEOUT_MS = 120_000;

/** A reason for which a service cannot be measured on this machine. */
export class CannotRunError extends Error {
  override readonly name = "CannotRunError";
}

/**
 * Returns the folder of the programs of a package, installed on first use.
 *
 * @param needs Python code that fails where an interpreter does not do, and what it needs in words.
 */
export function pythonPrograms(
  name: string,
  workspace: Workspace,
  needs: { code: string; words: string },
): string {
  const does = (python: string) => spawnSync(python, ["-c", needs.code], { stdio: "ignore" }).status === 0;
  const interpreter = workspace.pythons.find(does);
  if (interpreter === undefined)
    throw new CannotRunError(`${name} needs ${needs.words}: name one with --pythons PATH,PATH`);
  const requirements = fileURLToPath(new URL(`requirements-${name}.txt`, import.meta.url));
  return join(pythonEnvironment(join(workspace.cache, name), { requirements, python: interpreter }), "..");
}

export interface ServerOptions {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly log: string;
  /** Address that answers once the server is ready. */
  readonly readyUrl: string;
}

/** Starts a server and waits for it. Returns how to stop it. */
export async function startProgram(
  program: string,
  { args, env = {}, log, readyUrl }: ServerOptions,
): Promise<() => Promise<void>> {
  const output = openSync(log, "a");
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["ignore", output, output] });
  const endMs = performance.now() + START_TIMEOUT_MS;
  while (!(await isReady(readyUrl))) {
    if (child.exitCode !== null || performance.now() > endMs) {
      await end(child);
      throw new CannotRunError(`${program} did not start: see ${log}`);
    }
    await sleep(50);
  }
  return () => end(child);
}

async function isReady(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill();
  await once(child, "exit");
}

const agent = new Agent({ keepAlive: true });

/**
 * Posts JSON over a connection that is kept.
 *
 * @throws Error with the answer unless that is a success.
 */
export function post<Answer = unknown>(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { method: "POST", agent, headers: { "content-type": "application/json", ...headers } };
    const call = request(url, options, (response) => {
      let answer = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => (answer += chunk));
      response.on("end", () => {
        const { statusCode = 0 } = response;
        if (statusCode >= 200 && statusCode < 300) resolve(answer === "" ? {} : JSON.parse(answer));
        else reject(new Error(`${url}: ${statusCode} ${answer}`));
      });
    });
    call.on("error", reject).end(JSON.stringify(body));
  });
}
