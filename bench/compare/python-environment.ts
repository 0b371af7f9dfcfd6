import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const REQUIREMENTS = fileURLToPath(new URL("../requirements.txt", import.meta.url));

/**
 * Returns the interpreter of a virtual environment with the packages of a file, without options those of
 * `bench/requirements.txt`. It is created on first use and again after they change.
 *
 * @throws Error that says what to install when there is no Python.
 */
export function pythonEnvironment(
  folder: string,
  { requirements = REQUIREMENTS, python: maker = "python3" } = {},
): string {
  const hash = createHash("sha256").update(readFileSync(requirements)).digest("hex");
  const stamp = join(folder, "made-from");
  const python = join(folder, "bin/python");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return python;
  if (spawnSync(maker, ["-c", "import venv, ensurepip"]).status !== 0) {
    throw new Error(
      "what recalld is compared with runs in Python: install Python 3.10 or newer with venv, " +
        "or measure recalld alone with --systems recalld",
    );
  }
  console.error(`making a Python environment in ${folder}: up to half a gigabyte, once`);
  rmSync(folder, { recursive: true, force: true });
  succeed(maker, ["-m", "venv", folder]);
  succeed(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements]);
  writeFileSync(stamp, hash);
  return python;
}

function succeed(program: string, args: readonly string[]): void {
  const { status } = spawnSync(program, args, { stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}`);
}
