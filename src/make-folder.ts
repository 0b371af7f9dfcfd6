import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder, and those above it; only its owner may enter it, unless `mode` says otherwise. Node's own `recursive`
 * tries for ever where a folder exists and can hold no other, as `/proc` does: not even SIGTERM ends it.
 */
export function makeFolder(path: string, mode = 0o700): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
