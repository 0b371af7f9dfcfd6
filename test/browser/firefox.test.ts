import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { sharedServer, type TestServer } from "../support/server.js";
import type { Report } from "./firefox/visit.js";
import { needPortal } from "./visitor.js";

const VISIT = join(import.meta.dirname, "firefox/visit.ts");
const PROGRAM = process.env.FIREFOX ?? ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find(existsSync);
if (PROGRAM === undefined && process.env.REQUIRE_FIREFOX === "1")
  throw new Error("REQUIRE_FIREFOX=1, but there is no Firefox: install it, or name it in FIREFOX");

const PAGES = [
  ...["start", "playground/home", "memories", "memories/home"],
  ...["usage", "calls", "keys", "account", "reference", "reference/Recall"],
];

describe.skipIf(PROGRAM === undefined)(
  `the portal in Firefox${PROGRAM ? "" : " (none is installed)"}`,
  () => {
    let server: TestServer;
    let caller: Caller;
    let report: Report;

    beforeAll(async () => {
      needPortal();
      server = await sharedServer();
      caller = await signUp(server.url);
      for (const text of ["Ada lives in Lisbon.", "The standup is at ten."])
        await caller.store({ text, namespace: "home", metadata: { source: "chat" } });
      // It is a program of its own, because Node 20 has WebSocket only with a flag.
      const args = ["--experimental-websocket", "--no-warnings", "--import", "tsx", VISIT];
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [...args, PROGRAM as string, server.url, caller.key, ...PAGES],
        { maxBuffer: 16_777_216 },
      );
      report = JSON.parse(stdout) as Report;
    }, 240_000);

    it("shows every page, wide and narrow, with nothing that axe finds", () => {
      expect(report.visited).toHaveLength(2 * PAGES.length);
      for (const { hash, width, title, violations } of report.visited) {
        expect(violations, `${hash}, ${width} pixels wide`).toEqual([]);
        expect(title).toMatch(/ · recalld$/);
      }
    });

    it("fits a phone", () => {
      for (const { hash, width, scrollWidth } of report.visited) {
        expect(scrollWidth, hash).toBeLessThanOrEqual(width);
      }
    });

    it("signs in and recalls with the keyboard alone, and meets no error", async () => {
      expect(report.recalled).toContain("Ada lives in Lisbon.");
      // On a busy machine a page is left while it still loads a part, and Firefox calls that an error, too.
      const left = /^TypeError: error loading dynamically imported module: (\S+)$/;
      const parts = report.faults.flatMap((fault) => left.exec(fault)?.[1] ?? []);
      for (const part of parts) expect((await fetch(part)).status, part).toBe(200);
      expect(report.faults.filter((fault) => !left.test(fault))).toEqual([]);
    });
  },
);
