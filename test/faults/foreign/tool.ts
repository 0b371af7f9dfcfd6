import { execFile } from "node:child_process";
import { join } from "node:path";

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** Maximum length of a tool's output in an error. */
const TOLD = 4_000;

/** Tools that install.sh has put into its folder. */
export interface Tools {
  readonly folder: string;
  /** Interpreter with grpcio, mcp and schemathesis. */
  readonly python: string;
  /** Client of connect-go and grpc-go. */
  readonly goClient: string;
  readonly h2spec: string;
  /** Node 22, which MCP's own tools need. */
  readonly node: string;
  /** Packages of MCP's own tools. */
  readonly nodeModules: string;
}

export interface Ran {
  readonly code: number;
  readonly output: string;
}

export interface RunOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
  /** Variables beside those of this process; undefined takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Installs the tools.
 *
 * @throws Error with the script's message when a tool cannot be had.
 */
export async function installTools(): Promise<Tools> {
  const script = join(import.meta.dirname, "install.sh");
  const { code, output } = await run("bash", [script], { timeoutMs: 900_000 });
  if (code !== 0) throw new Error(`the foreign tools could not be installed: ${output.slice(-TOLD)}`);
  const folder = output.trimEnd().split("\n").at(-1) as string;
  return {
    folder,
    python: join(folder, "venv/bin/python"),
    goClient: join(folder, "bin/client"),
    h2spec: join(folder, "bin/h2spec"),
    node: join(folder, "node/node"),
    nodeModules: join(folder, "node/node_modules"),
  };
}

/** Runs a program to its end. Returns both of its outputs and its exit code. */
export function run(program: string, args: readonly string[], options: RunOptions): Promise<Ran> {
  const { timeoutMs, cwd, env } = options;
  return new Promise((resolve, reject) => {
    const settings = {
      cwd,
      env: { ...process.env, ...env },
      timeout: timeoutMs,
      maxBuffer: OUTPUT_BYTES_MAX,
    };
    execFile(program, args, settings, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === "number") resolve({ code, output: `${stderr}${stdout}` });
      else reject(new Error(error?.killed ? `${program} ran for ${timeoutMs} ms` : String(error)));
    });
  });
}

/** Returns the last line of a program, which must end well. */
export async function lastLine(
  program: string,
  args: readonly string[],
  options: RunOptions,
): Promise<string> {
  const { code, output } = await run(program, args, options);
  if (code !== 0) throw new Error(output.slice(-TOLD));
  return output.trimEnd().split("\n").at(-1) as string;
}
