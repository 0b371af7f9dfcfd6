import { isIP } from "node:net";
import { availableParallelism } from "node:os";

export interface Config {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  /** Chooses MongoDB; undefined is the embedded database in `dataDir`. */
  readonly mongodbUri: string | undefined;
  readonly model: string;
  readonly modelsDir: string;
  /** Where models are downloaded from; undefined is Hugging Face. */
  readonly modelsHub: string | undefined;
  /** How the model is to be read; undefined leaves it to the model's files. An empty prefix is none. */
  readonly modelPooling: (typeof POOLINGS)[number] | undefined;
  readonly modelQueryPrefix: string | undefined;
  readonly modelPassagePrefix: string | undefined;
  readonly embedWorkers: number;
  readonly signUp: "open" | "closed";
  /** Sign-ups of one client address; that many at once, then spread over the hour. */
  readonly signUpsPerHour: number;
  /** Sign-ups of all client addresses together. */
  readonly signUpsPerHourTotal: number;
  readonly freeCalls: number;
  /** A file of plans; undefined is the free plan alone. */
  readonly plansFile: string | undefined;
  /** Open connections; more are refused. */
  readonly connectionsMax: number;
  /** Of one client address; trusted proxies have no limit of their own. */
  readonly connectionsPerAddressMax: number;
  /** Blocks of addresses (CIDR) whose `X-Forwarded-For` counts. */
  readonly trustedProxies: readonly string[];
  /** Files of the certificate (chain) and its key, in PEM; undefined is plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** Origins whose pages may call from a browser; `*` alone is all. */
  readonly corsOrigins: readonly string[];
  readonly logLevel: LogLevel;
  /** Of `/metrics`; undefined is none. */
  readonly metricsPort: number | undefined;
  /** Where traces are sent, by OTLP; undefined is nowhere. */
  readonly otlpEndpoint: string | undefined;
  readonly indexMemoryBytesMax: number;
  /** For the embeddings of recent queries; 0 keeps none. */
  readonly queryCacheBytesMax: number;
  /** From SIGTERM, how long the service goes on while it says that it is not ready. */
  readonly drainNoticeMs: number;
  readonly shutdownTimeoutMs: number;
}

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** As `src/embedding/convention.ts` has them. */
const POOLINGS = ["mean", "cls", "last", "model"] as const;
/** The longest instruction in front of a query that any model's card asks for is some 150. */
const PREFIX_CHARS_MAX = 1_000;

/** Every setting, as `docs/configuration.md` lists them. */
export const SETTINGS = [
  "PORT",
  "HOST",
  "DATA_DIR",
  "MONGODB_URI",
  "MODEL",
  "MODELS_DIR",
  "MODELS_HUB",
  "MODEL_POOLING",
  "MODEL_QUERY_PREFIX",
  "MODEL_PASSAGE_PREFIX",
  "EMBED_WORKERS",
  "SIGNUP",
  "SIGNUPS_PER_HOUR",
  "SIGNUPS_PER_HOUR_TOTAL",
  "FREE_CALLS",
  "PLANS_FILE",
  "CONNECTIONS_MAX",
  "CONNECTIONS_PER_ADDRESS_MAX",
  "TRUSTED_PROXIES",
  "TLS_CERT",
  "TLS_KEY",
  "CORS_ORIGINS",
  "LOG_LEVEL",
  "METRICS_PORT",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "INDEX_MEMORY_BYTES_MAX",
  "QUERY_CACHE_BYTES_MAX",
  "DRAIN_NOTICE_MS",
  "SHUTDOWN_TIMEOUT_MS",
] as const;
type Setting = (typeof SETTINGS)[number];
type Environment = Readonly<Record<string, string | undefined>>;

/** Of OpenTelemetry's protocols the one that its specification has SDKs speak. */
const OTLP_PROTOCOL = "http/protobuf";

/** More sign-ups an hour than any one process could serve: as good as no limit. */
const SIGN_UPS_MAX = 10_000_000;

/** All that is wrong with the settings, a line each. */
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
  const read = new Reader(env);
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
    corsOrigins: read.list("CORS_ORIGINS", whyNoOrigin),
    logLevel: read.choice("LOG_LEVEL", LOG_LEVELS, "info"),
    metricsPort:
      read.text("METRICS_PORT") === undefined
        ? undefined
        : read.number("METRICS_PORT", { fallback: 0, min: 0, max: 65_535 }),
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

/** Reads single settings; a malformed one is noted, and its fallback taken, so that all are read. */
class Reader {
  readonly problems: string[];

  constructor(private readonly env: Environment) {
    this.problems = misspelt(env);
  }

  text(name: Setting): string | undefined {
    return this.env[name] || undefined;
  }

  number(name: Setting, { fallback, min, max }: { fallback: number; min: number; max: number }): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const parsed = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (parsed >= min && parsed <= max) return parsed;
    this.problems.push(
      `${name} is ${JSON.stringify(value)}; it must be a whole number from ${min} to ${max}`,
    );
    return fallback;
  }

  choice<T extends string>(name: Setting, choices: readonly T[], fallback: T): T {
    const value = this.text(name) ?? fallback;
    if ((choices as readonly string[]).includes(value)) return value as T;
    this.problems.push(`${name} is ${JSON.stringify(value)}; it must be one of ${choices.join(", ")}`);
    return fallback;
  }

  /** An empty variable counts as absent, and files of variables hold no line breaks: hence `none` and `\n`. */
  prefix(name: Setting): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (value.length > PREFIX_CHARS_MAX) {
      this.problems.push(`${name} is ${value.length} characters; the limit is ${PREFIX_CHARS_MAX}`);
    }
    return value === "none" ? "" : value.replaceAll("\\n", "\n");
  }

  /** Values between commas; `whyNot` says what is wrong with one. */
  list(name: Setting, whyNot: (value: string) => string | undefined): readonly string[] {
    const values = (this.text(name) ?? "").split(",").flatMap((value) => value.trim() || []);
    for (const value of values) {
      const wrong = whyNot(value);
      if (wrong !== undefined) this.problems.push(`${name} holds ${JSON.stringify(value)}; ${wrong}`);
    }
    return Object.freeze(values);
  }

  plansFile(): string | undefined {
    const file = this.text("PLANS_FILE");
    if (file !== undefined && this.text("FREE_CALLS") !== undefined) {
      this.problems.push("FREE_CALLS is set beside PLANS_FILE, which says the calls of every plan");
    }
    return file;
  }

  mongodbUri(): string | undefined {
    const uri = this.text("MONGODB_URI");
    // The value is not repeated: it may hold a password.
    if (uri !== undefined && !/^mongodb(\+srv)?:\/\/./.test(uri)) {
      this.problems.push("MONGODB_URI must begin with mongodb:// or mongodb+srv://");
    }
    return uri;
  }

  modelsHub(): string | undefined {
    const url = this.text("MODELS_HUB");
    if (url === undefined || (/^https?:/.test(url) && URL.canParse(url))) return url?.replace(/\/+$/, "");
    this.problems.push(
      `MODELS_HUB is ${JSON.stringify(url)}; it must be a URL, such as https://huggingface.co`,
    );
    return undefined;
  }

  otlpEndpoint(): string | undefined {
    const url = this.text("OTEL_EXPORTER_OTLP_ENDPOINT");
    if (url === undefined) return undefined;
    // The value is not repeated: it may hold a password.
    if (!/^https?:/.test(url) || !URL.canParse(url)) {
      this.problems.push("OTEL_EXPORTER_OTLP_ENDPOINT must be a URL, such as http://collector:4318");
    }
    for (const name of ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"]) {
      const protocol = this.env[name] || OTLP_PROTOCOL;
      if (protocol === OTLP_PROTOCOL) continue;
      this.problems.push(`${name} is ${JSON.stringify(protocol)}; traces are sent by ${OTLP_PROTOCOL}`);
    }
    return url;
  }

  tls(): Config["tls"] {
    const certFile = this.text("TLS_CERT");
    const keyFile = this.text("TLS_KEY");
    if (certFile !== undefined && keyFile !== undefined) return Object.freeze({ certFile, keyFile });
    if (certFile !== undefined) this.problems.push("TLS_CERT is set without TLS_KEY; HTTPS needs both");
    if (keyFile !== undefined) this.problems.push("TLS_KEY is set without TLS_CERT; HTTPS needs both");
    return undefined;
  }
}

function whyNoBlock(value: string): string | undefined {
  const [address = "", length = "", ...rest] = value.split("/");
  const lengthMax = { 0: 0, 4: 32, 6: 128 }[isIP(address)] as number;
  const good = /^\d{1,3}$/.test(length) && Number(length) <= lengthMax && rest.length === 0;
  if (!good) return "it must be a block of addresses (CIDR), such as 10.0.0.0/8 or 192.0.2.7/32";
  // Whoever trusts everybody lets every caller choose its own address.
  return Number(length) === 0 ? "it would trust everybody; name the proxies' own addresses" : undefined;
}

function whyNoOrigin(value: string): string | undefined {
  if (value === "*" || (/^https?:/.test(value) && URL.canParse(value) && new URL(value).origin === value)) {
    return undefined;
  }
  return "it must be an origin, such as https://app.example.org, or * for all";
}

/** Variables that are one or two letters from a setting's name: those are never meant. */
function misspelt(env: Environment): string[] {
  const problems: string[] = [];
  for (const name of Object.keys(env)) {
    // Short names (PORT, HOST, MODEL) have neighbours of their own, such as PATH or SPORT.
    const meant = SETTINGS.find((setting) => setting.length > 5 && isNear(name, setting));
    if (meant !== undefined) problems.push(`${name} is not a setting; did you mean ${meant}?`);
  }
  return problems;
}

/** Whether two different names are at most two edits (Levenshtein) apart. */
function isNear(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > 2 || (SETTINGS as readonly string[]).includes(a))
    return false;
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return (row[b.length] as number) <= 2;
}
