import { availableParallelism } from "node:os";

export interface Config {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  /** Chooses MongoDB; undefined is the embedded database in `dataDir`. */
  readonly mongodbUri: string | undefined;
  readonly model: string;
  readonly modelsDir: string;
  readonly embedWorkers: number;
  readonly signUp: "open" | "closed";
  readonly freeCalls: number;
  readonly logLevel: LogLevel;
  readonly indexMemoryBytesMax: number;
  readonly shutdownTimeoutMs: number;
}

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Every setting, as `docs/configuration.md` lists them. */
export const SETTINGS = [
  "PORT",
  "HOST",
  "DATA_DIR",
  "MONGODB_URI",
  "MODEL",
  "MODELS_DIR",
  "EMBED_WORKERS",
  "SIGNUP",
  "FREE_CALLS",
  "LOG_LEVEL",
  "INDEX_MEMORY_BYTES_MAX",
  "SHUTDOWN_TIMEOUT_MS",
] as const;
type Setting = (typeof SETTINGS)[number];
type Environment = Readonly<Record<string, string | undefined>>;

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
  const problems: string[] = misspelt(env);
  const text = (name: Setting) => env[name] || undefined;
  const number = (name: Setting, { fallback, min, max }: { fallback: number; min: number; max: number }) => {
    const value = text(name);
    if (value === undefined) return fallback;
    const parsed = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (parsed >= min && parsed <= max) return parsed;
    problems.push(`${name} is ${JSON.stringify(value)}; it must be a whole number from ${min} to ${max}`);
    return fallback;
  };
  const choice = <T extends string>(name: Setting, choices: readonly T[], fallback: T): T => {
    const value = text(name) ?? fallback;
    if ((choices as readonly string[]).includes(value)) return value as T;
    problems.push(`${name} is ${JSON.stringify(value)}; it must be one of ${choices.join(", ")}`);
    return fallback;
  };

  const dataDir = text("DATA_DIR") ?? "./data";
  const mongodbUri = text("MONGODB_URI");
  // The value is not repeated: it may hold a password.
  if (mongodbUri !== undefined && !/^mongodb(\+srv)?:\/\/./.test(mongodbUri)) {
    problems.push("MONGODB_URI must begin with mongodb:// or mongodb+srv://");
  }
  const config: Config = {
    port: number("PORT", { fallback: 8080, min: 0, max: 65_535 }),
    host: text("HOST") ?? "127.0.0.1",
    dataDir,
    mongodbUri,
    model: text("MODEL") ?? "bundled",
    modelsDir: text("MODELS_DIR") ?? `${dataDir}/models`,
    embedWorkers: number("EMBED_WORKERS", {
      fallback: Math.max(1, availableParallelism() - 1),
      min: 1,
      max: 256,
    }),
    signUp: choice("SIGNUP", ["open", "closed"], "open"),
    freeCalls: number("FREE_CALLS", { fallback: 1000, min: 0, max: 2_000_000_000 }),
    logLevel: choice("LOG_LEVEL", LOG_LEVELS, "info"),
    indexMemoryBytesMax: number("INDEX_MEMORY_BYTES_MAX", {
      fallback: 2_000_000_000,
      min: 1_000_000,
      max: Number.MAX_SAFE_INTEGER,
    }),
    shutdownTimeoutMs: number("SHUTDOWN_TIMEOUT_MS", { fallback: 10_000, min: 0, max: 600_000 }),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
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
