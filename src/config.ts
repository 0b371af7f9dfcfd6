import { availableParallelism } from "node:os";
import { SettingReader, whyNoBlock, whyNoOrigin } from "./setting-reader.js";
import type { Environment } from "./settings.js";

export interface Config {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  /** Chooses MongoDB; undefined is the embedded database in `dataDir`. */
  readonly mongodbUri: string | undefined;
  readonly model: string;
  readonly modelsDir: string;
  /** URL that models are downloaded from; undefined is Hugging Face. */
  readonly modelsHub: string | undefined;
  /** Rule by which the model pools; undefined leaves it to the model's files. An empty prefix is none. */
  readonly modelPooling: (typeof POOLINGS)[number] | undefined;
  readonly modelQueryPrefix: string | undefined;
  readonly modelPassagePrefix: string | undefined;
  readonly embedWorkers: number;
  /** Order of a recall that asks for none. */
  readonly recallMode: (typeof RECALL_MODES)[number];
  readonly signUp: "open" | "closed";
  /** Sign-ups of one client address an hour: that many at once, then spread over the hour. */
  readonly signUpsPerHour: number;
  /** Sign-ups of all client addresses together. */
  readonly signUpsPerHourTotal: number;
  readonly freeCalls: number;
  /** A file of plans; undefined is the free plan alone. */
  readonly plansFile: string | undefined;
  /** Open connections; more are refused. */
  readonly connectionsMax: number;
  /** Maximum number of connections of one client address; trusted proxies have no limit. */
  readonly connectionsPerAddressMax: number;
  /** Blocks of addresses (CIDR) whose `X-Forwarded-For` counts. */
  readonly trustedProxies: readonly string[];
  /** Files of the certificate (chain) and its key, in PEM; undefined is plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** Origin of HTTPS by which the internet reaches this server; with it the server offers OAuth. */
  readonly publicUrl: string | undefined;
  /** Origins whose pages may call from a browser; `*` alone is all. */
  readonly corsOrigins: readonly string[];
  readonly logLevel: LogLevel;
  /** Port of `/metrics`; undefined is none. */
  readonly metricsPort: number | undefined;
  /** Accounts that are named in metrics. */
  readonly metricsAccountsMax: number;
  /** Address that traces are sent to, by OTLP; undefined is nowhere. */
  readonly otlpEndpoint: string | undefined;
  readonly indexMemoryBytesMax: number;
  /** Memory for the embeddings of recent queries; 0 keeps none. */
  readonly queryCacheBytesMax: number;
  /** Days for which records of calls are kept, and their number for each account; 0 keeps none. */
  readonly callRecordDays: number;
  readonly callRecordsMax: number;
  /** Time that the service goes on from SIGTERM while it says that it is not ready. */
  readonly drainNoticeMs: number;
  readonly shutdownTimeoutMs: number;
}

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Poolings, the same as in `src/embedding/encode/convention.ts`. */
const POOLINGS = ["mean", "cls", "last", "model"] as const;
/** Orders of results, the same as in `src/memory/calls/ports.ts`. */
const RECALL_MODES = ["cosine", "hybrid"] as const;
/** More sign-ups an hour than any one process could serve: as good as no limit. */
const SIGN_UPS_MAX = 10_000_000;

/** Error with all problems of the settings, a line each. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

/**
 * Reads the settings. An empty variable counts as absent.
 *
 * @throws ConfigError with every problem at once.
 */
export function loadConfig(env: Environment): Config {
  const read = new SettingReader(env);
  const dataDir = read.text("DATA_DIR") ?? "./data";
  const config: Config = {
    port: read.number("PORT", { fallback: 8080, min: 0, max: 65_535 }),
    host: read.text("HOST") ?? "127.0.0.1",
    dataDir,
    mongodbUri: read.mongodbUri(),
    model: read.text("MODEL") ?? "bundled",
    modelsDir: read.text("MODELS_DIR") ?? `${dataDir}/models`,
    modelsHub: read.modelsHub(),
    modelPooling:
      read.text("MODEL_POOLING") === undefined ? undefined : read.choice("MODEL_POOLING", POOLINGS, "mean"),
    modelQueryPrefix: read.prefix("MODEL_QUERY_PREFIX"),
    modelPassagePrefix: read.prefix("MODEL_PASSAGE_PREFIX"),
    embedWorkers: read.number("EMBED_WORKERS", {
      fallback: Math.max(1, availableParallelism() - 1),
      min: 1,
      max: 256,
    }),
    recallMode: read.choice("RECALL_MODE", RECALL_MODES, "cosine"),
    signUp: read.choice("SIGNUP", ["open", "closed"], "open"),
    // Enough for a class or an office behind one address, too few to farm free plans.
    signUpsPerHour: read.number("SIGNUPS_PER_HOUR", { fallback: 60, min: 1, max: SIGN_UPS_MAX }),
    signUpsPerHourTotal: read.number("SIGNUPS_PER_HOUR_TOTAL", { fallback: 1000, min: 1, max: SIGN_UPS_MAX }),
    freeCalls: read.number("FREE_CALLS", { fallback: 1000, min: 0, max: 2_000_000_000 }),
    plansFile: read.plansFile(),
    connectionsMax: read.number("CONNECTIONS_MAX", { fallback: 10_000, min: 16, max: 1_000_000 }),
    connectionsPerAddressMax: read.number("CONNECTIONS_PER_ADDRESS_MAX", {
      fallback: 2_500,
      min: 1,
      max: 1_000_000,
    }),
    trustedProxies: read.list("TRUSTED_PROXIES", whyNoBlock),
    tls: read.tls(),
    publicUrl: read.publicUrl(),
    corsOrigins: read.list("CORS_ORIGINS", whyNoOrigin),
    logLevel: read.choice("LOG_LEVEL", LOG_LEVELS, "info"),
    metricsPort:
      read.text("METRICS_PORT") === undefined
        ? undefined
        : read.number("METRICS_PORT", { fallback: 0, min: 0, max: 65_535 }),
    metricsAccountsMax: read.number("METRICS_ACCOUNTS_MAX", { fallback: 0, min: 0, max: 1_000 }),
    otlpEndpoint: read.otlpEndpoint(),
    indexMemoryBytesMax: read.number("INDEX_MEMORY_BYTES_MAX", {
      fallback: 2_000_000_000,
      min: 1_000_000,
      max: Number.MAX_SAFE_INTEGER,
    }),
    queryCacheBytesMax: read.number("QUERY_CACHE_BYTES_MAX", {
      fallback: 4_000_000,
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
    }),
    callRecordDays: read.number("CALL_RECORD_DAYS", { fallback: 30, min: 1, max: 365 }),
    callRecordsMax: read.number("CALL_RECORDS_MAX", { fallback: 10_000, min: 0, max: 100_000 }),
    // Longer than common balancers need to notice: two checks of HAProxy's, or an endpoint's way in Kubernetes.
    drainNoticeMs: read.number("DRAIN_NOTICE_MS", { fallback: 5_000, min: 0, max: 600_000 }),
    shutdownTimeoutMs: read.number("SHUTDOWN_TIMEOUT_MS", { fallback: 10_000, min: 0, max: 600_000 }),
  };
  if (config.metricsPort !== undefined && config.metricsPort !== 0 && config.metricsPort === config.port) {
    read.problems.push(`METRICS_PORT and PORT are both ${config.port}; they must differ`);
  }
  if (read.problems.length > 0) throw new ConfigError(read.problems);
  return Object.freeze(config);
}
