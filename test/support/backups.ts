import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openLocal } from "../../src/storage/local/open.js";
import { aScope, memories } from "../contract/samples.js";
import { newDataDir } from "./server.js";

export const MEMORIES = 2_000;

/** Makes a folder with a database that no process uses. */
export async function filled(): Promise<string> {
  const dataDir = newDataDir();
  const { log, names, close } = await openLocal({ dataDir });
  const logId = await names.create(aScope());
  await log.append({ logId, from: 1, entries: memories(MEMORIES) });
  await close();
  return dataDir;
}

export const newBackup = () => join(newDataDir(), "backup");
export const namesIn = (folder: string) => readdirSync(folder).sort();
