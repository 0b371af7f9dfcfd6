import { MongoMemoryReplSet } from "mongodb-memory-server-core";
import { DryMongoBinary } from "mongodb-memory-server-core/lib/util/DryMongoBinary.js";
import { DEFAULT_VERSION } from "mongodb-memory-server-core/lib/util/resolveConfig.js";
import { within } from "../../../src/storage/within.js";
import type { TestServer } from "./server.js";

const DOWNLOADS = "https://fastdl.mongodb.org";
const PROBE_TIMEOUT_MS = 3_000;
/** Timeout of the start. The first one downloads about 100 MB. */
const START_TIMEOUT_MS = 180_000;

/**
 * Starts a real mongod, a replica set of one.
 *
 * @throws Error when its program cannot be had.
 */
export async function startMongod(): Promise<TestServer> {
  const version = process.env.MONGOMS_VERSION ?? DEFAULT_VERSION;
  const cached = await DryMongoBinary.locateBinary({ version });
  if (cached === undefined) await reachDownloads();
  const set = await within(START_TIMEOUT_MS, MongoMemoryReplSet.create({ binary: { version } }));
  const stop = async () => {
    await set.stop();
  };
  return { uri: set.getUri(), kind: `mongod ${version} (mongodb-memory-server)`, stop };
}

async function reachDownloads(): Promise<void> {
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  await fetch(DOWNLOADS, { method: "HEAD", signal }).catch(() => {
    throw new Error(`no mongod in the cache and ${DOWNLOADS} does not answer`);
  });
}
