import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../config/config.js";
import type { OpenEmbedder } from "../embedding/embedder.js";
import type { Telemetry } from "../observability/telemetry.js";
import type { Readiness } from "../server/listen/readiness.js";

/** Functions to call at the end, or when the start fails, the last one first. */
export type Closers = (() => unknown)[];

/** What the parts of a service are opened with. */
export interface Context {
  readonly config: Config;
  readonly logger: FastifyBaseLogger;
  readonly telemetry: Telemetry;
  readonly readiness: Readiness;
  readonly closers: Closers;
  /** Models that are open now. */
  readonly models: Set<OpenEmbedder>;
}
