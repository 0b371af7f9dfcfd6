/** Names of all settings, as `docs/configuration.md` lists them. */
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
  "RECALL_MODE",
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
  "PUBLIC_URL",
  "CORS_ORIGINS",
  "LOG_LEVEL",
  "METRICS_PORT",
  "METRICS_ACCOUNTS_MAX",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "INDEX_MEMORY_BYTES_MAX",
  "QUERY_CACHE_BYTES_MAX",
  "CALL_RECORD_DAYS",
  "CALL_RECORDS_MAX",
  "DRAIN_NOTICE_MS",
  "SHUTDOWN_TIMEOUT_MS",
] as const;
export type Setting = (typeof SETTINGS)[number];
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that are one or two letters from a setting's name: those are never meant. */
export function misspelt(env: Environment): string[] {
  const problems: string[] = [];
  for (const name of Object.keys(env)) {
    // Short names (PORT, HOST, MODEL) have neighbours such as PATH or SPORT.
    const meant = SETTINGS.find((setting) => setting.length > 5 && isNear(name, setting));
    if (meant !== undefined) problems.push(`${name} is not a setting; did you mean ${meant}?`);
  }
  return problems;
}

/** Tells whether two different names are at most two edits (Levenshtein) apart. */
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
