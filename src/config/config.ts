import { availableParallelism } from "node:os";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { didYouMean } from "../suggest.js";

export type Environment = Readonly<Record<string, string | undefined>>;

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** More sign-ups an hour than any one process could serve: as good as no limit. */
const SIGN_UPS_MAX = 10_000_000;
/** The longest instruction in front of a query that any model's card asks for is some 150. */
const PREFIX_CHARS_MAX = 1_000;
/** The same as in `src/embedding/remote/request.ts`. */
const DIMENSIONS_MAX = 4_096;
/** Characters of a wrong value that its message repeats. */
const QUOTED_CHARS_MAX = 100;

/** All settings, in the order of `docs/configuration.md`. */
const SCHEMA = {
  PORT: whole(0, 65_535).default(8080),
  HOST: z.string().default("127.0.0.1"),
  DATA_DIR: z.string().default("./data"),
  /** Chooses MongoDB; undefined is the embedded database in `DATA_DIR`. */
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\/./, "must begin with mongodb:// or mongodb+srv://")
    .optional(),
  MODEL: z.string().default("bundled"),
  MODELS_DIR: z.string(),
  /** URL that models are downloaded from; undefined is Hugging Face. */
  MODELS_HUB: url("https://huggingface.co")
    .refine((given) => !hasCredentials(given), "must have no user and password")
    .transform((hub) => hub.replace(/\/+$/, ""))
    .optional(),
  /** The same as in `src/embedding/encode/convention.ts`; undefined leaves it to the model's files. */
  MODEL_POOLING: choice(["mean", "cls", "last", "model"]).optional(),
  MODEL_QUERY_PREFIX: prefix().optional(),
  MODEL_PASSAGE_PREFIX: prefix().optional(),
  /** Base address of an OpenAI-compatible API, for `MODEL=openai:NAME`. */
  EMBED_URL: url("http://localhost:11434/v1")
    .refine((given) => !hasCredentials(given), "must have no user and password")
    .optional(),
  EMBED_API_KEY: z
    .string()
    .trim()
    .regex(/^[\x21-\x7e]+$/, "must be of visible characters of ASCII")
    .optional(),
  EMBED_QUERY_PREFIX: prefix().optional(),
  EMBED_TEXT_PREFIX: prefix().optional(),
  EMBED_DIMENSIONS: whole(1, DIMENSIONS_MAX).optional(),
  EMBED_MAX_TOKENS: whole(32, 32_768).default(512),
  EMBED_WORKERS: whole(1, 256).default(Math.max(1, availableParallelism() - 1)),
  /** Order of a recall that asks for none, the same as in `src/memory/operations/ports.ts`. */
  RECALL_MODE: choice(["cosine", "hybrid"]).default("cosine"),
  /** Action of a store that names none, the same as in `src/memory/requests/handle-secrets.ts`. */
  ON_SECRET: choice(["store", "redact", "refuse"]).default("store"),
  /** The same numbers as in `src/memory/requests/recall-options.ts`. */
  TOP_K_MAX: whole(20, 200).default(20),
  SIGNUP: choice(["open", "closed"]).default("open"),
  /**
   * Sign-ups of one client address an hour: that many at once, then spread over the hour. Enough for a class or an
   * office behind one address, too few to farm free plans.
   */
  SIGNUPS_PER_HOUR: whole(1, SIGN_UPS_MAX).default(60),
  SIGNUPS_PER_HOUR_TOTAL: whole(1, SIGN_UPS_MAX).default(1000),
  FREE_CALLS: whole(0, 2_000_000_000).default(1000),
  /** A file of plans; undefined is the free plan alone. */
  PLANS_FILE: z.string().optional(),
  CONNECTIONS_MAX: whole(16, 1_000_000).default(10_000),
  /** Trusted proxies have no such limit. */
  CONNECTIONS_PER_ADDRESS_MAX: whole(1, 1_000_000).default(2_500),
  /** Blocks of addresses (CIDR) whose `X-Forwarded-For` counts. */
  TRUSTED_PROXIES: list(
    z
      .union(
        [z.cidrv4(), z.cidrv6()],
        "must be a block of addresses (CIDR), such as 10.0.0.0/8 or 192.0.2.7/32",
      )
      // Otherwise every caller could choose its own address.
      .refine((block) => !block.endsWith("/0"), "would trust everybody; name the proxies' own addresses"),
  ),
  /** Files of the certificate (chain) and its key, in PEM; without them the server speaks plain HTTP. */
  TLS_CERT: z.string().optional(),
  TLS_KEY: z.string().optional(),
  /** Origin by which the internet reaches this server; with it the server offers OAuth. */
  PUBLIC_URL: z
    .string()
    .transform((given) => given.replace(/\/$/, ""))
    .refine(
      (given) => given.startsWith("https:") && isOrigin(given),
      "must be an origin of HTTPS, such as https://memory.example.org",
    )
    .optional(),
  /** Origins whose pages may call from a browser; `*` alone is all. */
  CORS_ORIGINS: list(
    z
      .string()
      .refine(
        (given) => given === "*" || isOrigin(given),
        "must be an origin, such as https://app.example.org, or * for all",
      ),
  ),
  LOG_LEVEL: choice(LOG_LEVELS).default("info"),
  METRICS_PORT: whole(0, 65_535).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: url("http://collector:4318").optional(),
  INDEX_MEMORY_BYTES_MAX: whole(1_000_000, Number.MAX_SAFE_INTEGER).default(2_000_000_000),
  QUERY_CACHE_BYTES_MAX: whole(0, Number.MAX_SAFE_INTEGER).default(4_000_000),
  /** Days for which records of calls are kept, and their number for each account; 0 keeps none. */
  CALL_RECORD_DAYS: whole(1, 365).default(30),
  CALL_RECORDS_MAX: whole(0, 100_000).default(10_000),
  /** Longer than common balancers need to notice: two checks of HAProxy's, or an endpoint's way in Kubernetes. */
  DRAIN_NOTICE_MS: whole(0, 600_000).default(5_000),
  SHUTDOWN_TIMEOUT_MS: whole(0, 600_000).default(10_000),
};

/** Variables that the exporter of traces reads by itself. They count only beside `OTEL_EXPORTER_OTLP_ENDPOINT`. */
const TRACES_SCHEMA = {
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url("http://collector:4318/v1/traces").optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: choice(["http/protobuf"]).optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: choice(["http/protobuf"]).optional(),
};

/** Variables whose value no message repeats: it may hold a password. */
const SECRETS = /URI$|HUB$|ENDPOINT$|^EMBED_(URL|API_KEY)$/;

export type Setting = keyof typeof SCHEMA;
export const SETTINGS = Object.keys(SCHEMA) as readonly Setting[];

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

/** The settings by their names in camel case: `DATA_DIR` is `dataDir`. */
export type Config = {
  readonly [Name in Setting as CamelCase<Name>]: z.output<(typeof SCHEMA)[Name]>;
};

export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

/** Lines about what has ended a program: what the operator can mend, or a fault with its stack. */
export function linesOnFailure(program: string, error: unknown): readonly unknown[] {
  if (error instanceof ConfigError) return error.problems.map((problem) => `${program}: ${problem}`);
  return error instanceof MemoryError ? [`${program}: ${error.message}`] : [`${program}:`, error];
}

/** Reads the settings. An empty variable counts as absent. @throws ConfigError with every problem at once. */
export function loadConfig(env: Environment): Config {
  const given: Environment = {
    MODELS_DIR: `${env.DATA_DIR || "./data"}/models`,
    ...Object.fromEntries(Object.entries(env).filter(([, value]) => value)),
  };
  const traces = given.OTEL_EXPORTER_OTLP_ENDPOINT === undefined ? {} : TRACES_SCHEMA;
  const read = z.object({ ...SCHEMA, ...traces }).safeParse(given, { reportInput: true });
  const issues = read.error?.issues ?? [];
  const problems = [...misspelt(env), ...issues.map(problemOf), ...conflictsIn(given)];
  if (!read.success || problems.length > 0) throw new ConfigError(problems);
  const settings = SETTINGS.map((name) => [camelCase(name), read.data[name]]);
  return Object.freeze(Object.fromEntries(settings)) as Config;
}

/** Refuses variables whose names are a slip or two from a setting's: those are never meant. */
function misspelt(env: Environment): string[] {
  // Short names (PORT, HOST, MODEL) have neighbours such as PATH or SPORT.
  const settings = SETTINGS.filter((name) => name.length > 5);
  return Object.keys(env)
    .filter((name) => !SETTINGS.some((setting) => setting === name))
    .flatMap((name) => {
      const meant = didYouMean(name, settings);
      return meant === undefined ? [] : [`${name} is not a setting; did you mean ${meant}?`];
    });
}

function problemOf({ path: [name = "", ...inside], input, message }: z.core.$ZodIssue): string {
  if (SECRETS.test(String(name)) || String(input).includes("@")) return `${String(name)} ${message}`;
  const quoted = JSON.stringify(String(input).slice(0, QUOTED_CHARS_MAX));
  return `${String(name)} ${inside.length > 0 ? "holds" : "is"} ${quoted}; it ${message}`;
}

function conflictsIn(given: Environment): string[] {
  const isRemote = given.MODEL?.startsWith("openai:") === true;
  const { PORT = String(SCHEMA.PORT.parse(undefined)), METRICS_PORT, TLS_CERT, TLS_KEY } = given;
  const isSamePort = Number(PORT) === Number(METRICS_PORT) && Number(PORT) !== 0;
  const problems = [
    given.PLANS_FILE &&
      given.FREE_CALLS &&
      "FREE_CALLS is set beside PLANS_FILE, which says the calls of every plan",
    TLS_CERT && !TLS_KEY && "TLS_CERT is set without TLS_KEY; HTTPS needs both",
    TLS_KEY && !TLS_CERT && "TLS_KEY is set without TLS_CERT; HTTPS needs both",
    isRemote && !given.EMBED_URL && `MODEL is ${given.MODEL}, which needs EMBED_URL`,
    ...["MODEL_POOLING", "MODEL_QUERY_PREFIX", "MODEL_PASSAGE_PREFIX"].map(
      (name) =>
        isRemote &&
        given[name] &&
        `${name} is for models that are loaded; see EMBED_QUERY_PREFIX and EMBED_TEXT_PREFIX`,
    ),
    isSamePort && `METRICS_PORT and PORT are both ${PORT}; they must differ`,
  ];
  return problems.flatMap((problem) => problem || []);
}

function whole(min: number, max: number) {
  const isInRange = (text: string) => /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max;
  return z.string().refine(isInRange, `must be a whole number from ${min} to ${max}`).transform(Number);
}

function choice<const Choices extends readonly string[]>(choices: Choices) {
  return z.enum(choices, `must be one of ${choices.join(", ")}`);
}

function url(example: string) {
  return z.url({ protocol: /^https?$/, error: `must be a URL, such as ${example}` });
}

/** Values between commas. */
function list(value: z.ZodType<string, string>) {
  return z
    .string()
    .default("")
    .transform((text) => text.split(",").flatMap((each) => each.trim() || []))
    .pipe(z.array(value))
    .readonly();
}

/** An empty variable counts as absent, and files of variables hold no line breaks: hence `none` and `\n`. */
function prefix() {
  return z
    .string()
    .max(PREFIX_CHARS_MAX, {
      error: ({ input }) => `must have ${PREFIX_CHARS_MAX} characters at most, not ${String(input).length}`,
    })
    .transform((text) => (text === "none" ? "" : text.replaceAll("\\n", "\n")));
}

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

function hasCredentials(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username !== "" || password !== "";
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
