import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { chanceOf } from "../support/chance.js";
import { QUICK } from "../support/quick.js";
import { History } from "./history.js";

const HISTORIES = QUICK ? 5 : 30;
const KILLS = QUICK ? 3 : 12;
const STEPS = 40;
const TIMEOUT = { timeout: 120_000 };

const folders: string[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "recalld-index-"));
  folders.push(folder);
  return folder;
}

afterEach(() => {
  vi.restoreAllMocks();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

it.each([
  { how: "at once", mergedAtOnceBytes: undefined, histories: HISTORIES },
  { how: "in slices", mergedAtOnceBytes: 0, histories: HISTORIES / 5 },
])(
  "an index answers like one built at once, merged $how",
  TIMEOUT,
  async ({ mergedAtOnceBytes, histories }) => {
    let restored = 0;
    // Every slice of work takes longer than it may, so that other work runs after each step.
    let nowMs = 0;
    if (mergedAtOnceBytes !== undefined) vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 6));
    for (let seed = 1; seed <= histories; seed++) {
      const options = { chance: chanceOf(seed), folder: newFolder() };
      const history = new History({
        ...options,
        ...(mergedAtOnceBytes !== undefined && { mergedAtOnceBytes }),
      });
      for (let step = 0; step < STEPS; step++) {
        if (step % 5 === 4) await history.restart();
        else await history.step();
        // A comparison waits for what is being added.
        if (step % 3 === 0) await history.compare();
      }
      await history.close({ retainFiles: true });
      history.expectGone();
      expect(history.troubles).toEqual([]);
      restored += history.restored;
    }
    expect(restored).toBeGreaterThan(0);
  },
);

it(
  "an index that was killed amid its work answers like one built at once, and keeps nothing removed",
  TIMEOUT,
  async () => {
    const folder = newFolder();
    const chance = chanceOf(1);
    for (let kill = 1; kill <= KILLS; kill++) {
      const script = new URL("./crashing.ts", import.meta.url).pathname;
      const child = spawn(process.execPath, ["--import", "tsx", script, String(kill), folder], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout, "data");
      await new Promise((resolve) => setTimeout(resolve, chance.below(300)));
      child.kill("SIGKILL");
      await once(child, "exit");
      const history = new History({ chance, folder });
      await history.restore();
      await history.compare();
      await history.close({ retainFiles: false });
      expect(history.troubles).toEqual([]);
    }
  },
);
