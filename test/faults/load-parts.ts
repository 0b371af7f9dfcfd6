import { envoy, haproxy } from "../support/balancer.js";
import { startServer } from "../support/server.js";
import { count, seconds } from "./figures.js";
import { crowd, floodOneKey, TIMES } from "./flood.js";
import { connectionProblemsOf, keyProblemsOf, memoryRatioOf, problemsOf, tableOf } from "./flood-report.js";
import { largest } from "./largest.js";
import { onMongo, REPLICAS } from "./on-mongo.js";
import { rollUnderLoad } from "./rolling.js";
import { SIZES } from "./sizes.js";

/** Restarts replicas one after another behind a balancer, under load. `size` is in milliseconds. */
export async function rollingPart(size: number, seed: number): Promise<string> {
  const balancer = process.env.ENVOY ? envoy() : haproxy();
  if (balancer.missing !== undefined) throw new Error(balancer.missing);
  // Less than a minute is not enough for two rounds with the default notice.
  const restarts = size < 60_000 ? 1 : 2;
  const figures = await onMongo((MONGODB_URI) =>
    rollUnderLoad({
      start: (env) => startServer({ env: { ...env, MONGODB_URI } }),
      balancer,
      restarts,
      durationMs: size,
      env: { DRAIN_NOTICE_MS: restarts > 1 ? "5000" : "3000" },
      seed,
    }),
  );
  const { calls, retries, failed, acknowledged, recallsAtOnce, elsewhere, slowestMs } = figures;
  return (
    `${figures.restarts} restarts of ${REPLICAS} replicas behind ${balancer.name} in ${seconds(size)}: ${count(calls)} calls over ` +
    `HTTP/1.1 and gRPC, ${failed} failed, ${count(retries)} tried again, the slowest took ${seconds(slowestMs)}; ` +
    `${count(acknowledged)} stores acknowledged, 0 lost; ${count(recallsAtOnce)} recalled at once, ` +
    `${count(elsewhere)} of them on another replica: 0 stale`
  );
}

/** Sends the largest of every request. `size` is the number of lists at once. */
export async function largestPart(size: number): Promise<string> {
  const full = size >= SIZES.largest.long;
  const load = { memories: full ? 100 : 18, rounds: full ? 5 : 1, lists: size };
  const figures = await largest({ start: startServer, ...load });
  const { outcomes, probes, probesFailed, slowestProbeMs, heldMaxMs, rssMaxMB, heapMaxMB } = figures;
  if (probesFailed > 0) throw new Error(`${probesFailed} of ${probes} probes of /livez failed`);
  return (
    `the largest of everything, ${count(load.rounds * size)} lists among it, with a heap of 512 MB: 0 crashes, ` +
    `${count(outcomes.ok ?? 0)} calls served, ${count(outcomes.unavailable ?? 0)} turned away; ${count(probes)} probes, ` +
    `all answered, within ${Math.round(slowestProbeMs)} ms; one iteration of the event loop took ` +
    `${Math.round(heldMaxMs)} ms of the processor at most; ` +
    `${Math.round(rssMaxMB)} MB of memory, ${Math.round(heapMaxMB)} MB of heap at most`
  );
}

/** Floods a server with one key and with connections. `size` is half a round in milliseconds. */
export async function floodPart(size: number): Promise<string> {
  const full = size >= SIZES.flood.long;
  const start = (env: Record<string, string>) => startServer({ env });
  const load = { start, rounds: full ? 7 : 3, roundMs: size };
  const key = await floodOneKey(load);
  const most = full ? { idle: 5_000, slow: 500 } : { idle: 3_000, slow: 300 };
  const connections = await crowd({ ...load, ...most });
  console.log(
    tableOf({
      "one key floods": key,
      [`${most.idle} idle and ${most.slow} slow connections`]: connections,
    }),
  );
  const wrong = [
    ...keyProblemsOf(key),
    ...connectionProblemsOf(connections),
    // Too few calls say nothing about p99.
    ...(full ? [...problemsOf(key), ...problemsOf(connections)] : []),
  ];
  if (wrong.length > 0) throw new Error(wrong.join("; "));
  return (
    `${count(key.sent)} calls of one key, ${TIMES} times its rate, ${count(key.accepted)} of them accepted; ` +
    `${most.idle} idle and ${most.slow} slow connections: another key's p99 is ${key.p99Ratio.toFixed(2)} and ` +
    `${connections.p99Ratio.toFixed(2)} times what it is without, memory ${memoryRatioOf(key).toFixed(2)} and ` +
    `${memoryRatioOf(connections).toFixed(2)} times (${count(Math.round(connections.connectionBytes))} bytes a connection), 0 calls failed`
  );
}
