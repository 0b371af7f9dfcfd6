import { withDatabase } from "../support/mongo/database.js";
import { findMongo } from "../support/mongo/find.js";
import { startServer, type TestServer } from "../support/server.js";

export const FREE_CALLS = "1000000000";
export const REPLICAS = 3;
/** Number of repetitions after which the database is replaced by a new one. */
export const RUN_MAX = 1_000;

/**
 * Runs the work in portions, each with several servers over a new MongoDB: the stand-in reads a whole
 * collection for each answer, and slows down as it grows.
 */
export async function inRuns<T>(
  size: number,
  seed: number,
  work: (urls: string[], times: number, seed: number, uri: string) => Promise<T>,
): Promise<T[]> {
  const done: T[] = [];
  for (let from = 0; from < size; from += RUN_MAX) {
    const times = Math.min(RUN_MAX, size - from);
    done.push(await onReplicas((urls, uri) => work(urls, times, seed + from, uri)));
  }
  return done;
}

/** Runs the work with several servers over one MongoDB. */
function onReplicas<T>(work: (urls: string[], uri: string) => Promise<T>): Promise<T> {
  return onMongo(async (MONGODB_URI) => {
    const servers: TestServer[] = [];
    try {
      for (let i = 0; i < REPLICAS; i++) {
        servers.push(await startServer({ env: { MONGODB_URI, FREE_CALLS } }));
      }
      return await work(
        servers.map(({ url }) => url),
        MONGODB_URI,
      );
    } finally {
      await Promise.all(servers.map(({ kill }) => kill()));
    }
  });
}

/** Runs the work with a new database. */
export async function onMongo<T>(work: (uri: string) => Promise<T>): Promise<T> {
  const mongo = await findMongo();
  if (!("uri" in mongo)) throw new Error(mongo.reason);
  try {
    return await work(withDatabase(mongo.uri, `recalld_faults_${process.pid}_${Date.now()}`));
  } finally {
    await mongo.stop();
  }
}
