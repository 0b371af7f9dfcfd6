#!/usr/bin/env node
import { resolve } from "node:path";
import { openService, type Service } from "./compose.js";
import { type Config, linesOnFailure, loadConfig } from "./config/config.js";
import { unusualLines } from "./embedding/models/find-convention.js";
import { flushLog, openLog } from "./server/logging.js";
import { VERSION } from "./version.js";

/** Time after ^C in which calls are still accepted: shorter than after SIGTERM, which load balancers must notice. */
const INTERRUPT_NOTICE_MS = 500;

/** Time in which a second signal counts as the same one: a terminal and npm both send ^C. */
const SAME_SIGNAL_MS = 1_000;

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const { logger, dropped: droppedLines } = openLog(config.logLevel);
  const stopping = new AbortController();
  const force = new AbortController();
  const opening = openService(config, { logger, droppedLines, stopping: stopping.signal });
  let firstSignalMs = 0;
  const stop = (noticeMs: number) => {
    if (stopping.signal.aborted) {
      if (performance.now() - firstSignalMs > SAME_SIGNAL_MS) force.abort();
      return;
    }
    firstSignalMs = performance.now();
    stopping.abort();
    const close = (service: Service) =>
      service
        .close({ noticeMs, force: force.signal })
        .then(() => exit(0))
        .catch(fail);
    // The failure of a start is handled below.
    opening.then(close, () => {});
  };
  // Before the start has ended, and not only once: for process 1 of a container, a signal has no default effect.
  process.on("SIGTERM", () => stop(config.drainNoticeMs));
  process.on("SIGINT", () => stop(Math.min(config.drainNoticeMs, INTERRUPT_NOTICE_MS)));
  const service = await opening.catch((error) => {
    // A signal has ended the start, which has closed what it had opened.
    if (error === stopping.signal.reason) return exit(0);
    throw error;
  });
  if (!stopping.signal.aborted) console.log(banner(config, service));
}

function banner({ mongodbUri, dataDir, model, signup }: Config, service: Service): string {
  const database =
    mongodbUri === undefined ? `local, in ${resolve(dataDir)}` : `MongoDB at ${hostsOf(mongodbUri)}`;
  const { dimensions, revision } = service.model;
  const byCurl = `curl -s ${service.address}/signup -H 'Content-Type: application/json' -d '{}'`;
  return [
    `recalld ${VERSION} is ready`,
    `  address   ${service.address}  (HTTP/JSON, Connect, gRPC and gRPC-Web)`,
    `  database  ${database}`,
    `  model     ${model}, ${dimensions} dimensions, revision ${revision.slice(0, 12)}`,
    ...unusualLines(service.convention).map((line) => `  reads     ${line}`),
    `  portal    ${service.address}/`,
    ...(service.metricsAddress === undefined ? [] : [`  metrics   ${service.metricsAddress}`]),
    `  sign up   ${signup === "open" ? `in the portal, or ${byCurl}` : "closed; recalld-admin accounts create"}`,
  ].join("\n");
}

/** Returns the hosts of a connection string, without its user, password and options. */
function hostsOf(uri: string): string {
  return uri.replace(/^[^:]+:\/\/(?:[^@/]*@)?([^/?]*).*$/, "$1");
}

async function fail(error: unknown): Promise<never> {
  for (const line of linesOnFailure("recalld", error)) console.error(line);
  return exit(1);
}

async function exit(code: number): Promise<never> {
  await flushLog();
  process.exit(code);
}

main().catch(fail);
