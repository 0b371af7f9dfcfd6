import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A program of this folder that runs in its own process. */
export interface Child {
  tell(line: string): void;
  /** Resolves with the next line that it writes. */
  nextLine(): Promise<string>;
  /** Kills it with kill -9 and resolves with all lines that were not yet read. */
  kill(): Promise<string[]>;
}

export function startChild(program: "own" | "write", dataDir: string): Child {
  const args = ["--import", "tsx", join(import.meta.dirname, `${program}.ts`), dataDir];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    tell: (line) => void child.stdin.write(`${line}\n`),
    nextLine: async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error(`${program} ended`);
      return value;
    },
    kill: async () => {
      child.kill("SIGKILL");
      const rest: string[] = [];
      for (let line = await lines.next(); !line.done; line = await lines.next()) rest.push(line.value);
      return rest;
    },
  };
}
