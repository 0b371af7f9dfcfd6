import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { signUp } from "../support/caller.js";
import { scrape } from "../support/scrape.js";
import { newDataDir } from "../support/server.js";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
/**
 * Id of the maximum length. A few thousand lines are more than the system and the program keep for a reader.
 */
const LONG_ID = "i".repeat(128);
const BATCH = 100;

it("who stops reading the log stops nothing else", async () => {
  const dataDir = newDataDir();
  const plans = join(dataDir, "plans.json");
  writeFileSync(plans, '{"free":{"calls":null}}');
  const env = {
    PATH: process.env.PATH ?? "",
    DATA_DIR: join(dataDir, "data"),
    PLANS_FILE: plans,
    PORT: "0",
    METRICS_PORT: "0",
  };
  const child = spawn(process.execPath, [MAIN], { env });
  onTestFinished(() => void child.kill("SIGKILL"));
  // Stderr has no reader.
  let banner = "";
  child.stdout.on("data", (chunk) => (banner += chunk));
  while (!banner.includes("sign up")) await once(child.stdout, "data");
  const found = (name: string) => new RegExp(`${name} +(http:\\S+)`).exec(banner)?.[1] as string;
  const [url, metricsUrl] = [found("address"), found("metrics")];
  const { key } = await signUp(url);
  const call = async () => {
    const headers = {
      "x-request-id": LONG_ID,
      "content-type": "application/json",
      authorization: `Bearer ${key}`,
    };
    const signal = AbortSignal.timeout(10_000);
    const { status } = await fetch(`${url}/store`, { method: "POST", headers, body: "{}", signal });
    expect(status).toBe(400);
  };
  let dropped = 0;
  while (dropped === 0) {
    await Promise.all(Array.from({ length: BATCH }, call));
    dropped = (await scrape(metricsUrl)).sum("recalld_log_lines_dropped_total");
  }
  expect((await fetch(`${url}/livez`, { signal: AbortSignal.timeout(3_000) })).status).toBe(200);
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
}, 60_000);
