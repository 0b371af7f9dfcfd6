import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A program of this folder that runs as a process of its own. */
export interface Child {
  tell(line: string): void;
  /** The next line it says. */
  hear(): Promise<string>;
  /** kill -9; answers all lines it said that nobody heard. */
  kill(): Promise<string[]>;
}

export function startChild(program: "own" | "write" | "migrate", dataDir: string): Child {
  const args = ["--import", "tsx", join(import.meta.dirname, `${program}.ts`), dataDir];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    tell: (line) => void child.stdin.write(`${line}\n`),
    hear: async () => {
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
