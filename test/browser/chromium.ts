import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** The headless shell comes first: without a browser's windows, opening a page takes a third of the work. */
const PATHS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].map(
  (name) => `/usr/bin/${name}`,
);

/** Finds the system's Chromium; nothing is downloaded. `CHROMIUM` names another one. */
export function findChromium(): string | undefined {
  return process.env.CHROMIUM ?? PATHS.find((path) => existsSync(path));
}

export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
