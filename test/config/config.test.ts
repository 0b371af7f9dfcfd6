import { describe, expect, it } from "vitest";
import { ConfigError, loadConfig, SETTINGS } from "../../src/config/config.js";

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("the settings", () => {
  it("all have a default", () => {
    expect(loadConfig({})).toMatchObject({
      port: 8080,
      host: "127.0.0.1",
      mongodbUri: undefined,
      signup: "open",
      signupsPerHour: 60,
      signupsPerHourTotal: 1000,
      trustedProxies: [],
      tlsCert: undefined,
      corsOrigins: [],
    });
  });

  it("may name a mirror to download models from", () => {
    expect(loadConfig({}).modelsHub).toBeUndefined();
    expect(loadConfig({ MODELS_HUB: "http://mirror:8080/hf/" }).modelsHub).toBe("http://mirror:8080/hf");
    expect(problemsOf({ MODELS_HUB: "me:secret@mirror" })).toEqual([
      "MODELS_HUB must be a URL, such as https://huggingface.co",
    ]);
    // Nothing can be downloaded with them, and the failure would repeat them.
    expect(problemsOf({ MODELS_HUB: "https://me:secret@mirror" })).toEqual([
      "MODELS_HUB must have no user and password",
    ]);
  });

  it("may name a server that has the model, and never repeat its address or key", () => {
    const given = { MODEL: "openai:test", EMBED_URL: "http://localhost:11434/v1", EMBED_API_KEY: " sk-1\n" };
    const { embedUrl, embedApiKey, embedMaxTokens, embedDimensions } = loadConfig(given);
    expect([embedUrl, embedApiKey, embedMaxTokens, embedDimensions]).toEqual([
      given.EMBED_URL,
      "sk-1",
      512,
      undefined,
    ]);
    expect(problemsOf({ MODEL: "openai:test", MODEL_QUERY_PREFIX: "q" })).toEqual([
      "MODEL is openai:test, which needs EMBED_URL",
      "MODEL_QUERY_PREFIX is for models that are loaded; see EMBED_QUERY_PREFIX and EMBED_TEXT_PREFIX",
    ]);
    expect(problemsOf({ EMBED_URL: "https://me:secret@host/v1", EMBED_API_KEY: "se cret" })).toEqual([
      "EMBED_URL must have no user and password",
      "EMBED_API_KEY must be of visible characters of ASCII",
    ]);
    expect(problemsOf({ EMBED_URL: "secret" })).toEqual([
      "EMBED_URL must be a URL, such as http://localhost:11434/v1",
    ]);
  });

  it("may open a port for metrics, which is not the one of the calls", () => {
    expect(loadConfig({}).metricsPort).toBeUndefined();
    expect(loadConfig({ METRICS_PORT: "0", PORT: "0" }).metricsPort).toBe(0);
    expect(problemsOf({ METRICS_PORT: "8080" })).toEqual([
      "METRICS_PORT and PORT are both 8080; they must differ",
    ]);
  });

  it("may name a collector of traces, and say the protocol that is spoken", () => {
    const OTEL_EXPORTER_OTLP_ENDPOINT = "http://collector:4318";
    expect(loadConfig({}).otelExporterOtlpEndpoint).toBeUndefined();
    expect(
      loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" })
        .otelExporterOtlpEndpoint,
    ).toBe(OTEL_EXPORTER_OTLP_ENDPOINT);
    expect(problemsOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toEqual([
      'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; it must be one of http/protobuf',
    ]);
    expect(problemsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "user:pass@collector" })).toEqual([
      "OTEL_EXPORTER_OTLP_ENDPOINT must be a URL, such as http://collector:4318",
    ]);
    for (const wrong of ["http://user:pass@[bad/v1/traces", "user:pass@collector:4318/v1/traces"]) {
      const given = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: wrong };
      expect(problemsOf(given)).toEqual([
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be a URL, such as http://collector:4318/v1/traces",
      ]);
    }
    // Without a collector, the other variables do not matter.
    expect(problemsOf({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toEqual([]);
  });

  it("leave it to the model how it is read, unless they say so", () => {
    expect(loadConfig({})).toMatchObject({ modelPooling: undefined, modelQueryPrefix: undefined });
    const config = loadConfig({
      MODEL_POOLING: "last",
      MODEL_QUERY_PREFIX: "Instruct: find it\\nQuery: ",
      MODEL_PASSAGE_PREFIX: "none",
    });
    expect(config).toMatchObject({
      modelPooling: "last",
      modelQueryPrefix: "Instruct: find it\nQuery: ",
      modelPassagePrefix: "",
    });
    expect(problemsOf({ MODEL_POOLING: "max", MODEL_QUERY_PREFIX: "x".repeat(1001) })).toEqual([
      'MODEL_POOLING is "max"; it must be one of mean, cls, last, model',
      `MODEL_QUERY_PREFIX is "${"x".repeat(100)}"; it must have 1000 characters at most, not 1001`,
    ]);
  });

  it("count as absent when empty", () => {
    const empty = Object.fromEntries(SETTINGS.map((name) => [name, ""]));
    expect(loadConfig(empty)).toEqual(loadConfig({}));
  });

  it("cannot be changed once read", () => {
    const config = loadConfig({ TRUSTED_PROXIES: "10.0.0.0/8" });
    expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError);
    expect(() => (config.trustedProxies as string[]).push("::/0")).toThrow(TypeError);
  });

  it("are reported all at once, a line each", () => {
    const problems = problemsOf({
      PORT: "http",
      SIGNUP: "maybe",
      SIGNUPS_PER_HOUR: "0",
      SIGNUPS_PER_HOUR_TOTAL: "-1",
      MONGODB_URI: "postgres://me:secret@db",
      TRUSTED_PROXIES: "true, 10.0.0.0/8, 10.0.0.1",
      TLS_CERT: "cert.pem",
      CORS_ORIGINS: "https://a.example,https://b.example/",
      LOG_LEVEL: "loud",
      DATADIR: "here",
    });
    const named = [
      /^DATADIR is not a setting; did you mean DATA_DIR\?$/,
      /^PORT is "http"; it must be a whole number from 0 to 65535$/,
      /^MONGODB_URI must begin/,
      /^SIGNUP is "maybe"; it must be one of open, closed$/,
      /^SIGNUPS_PER_HOUR is "0"/,
      /^SIGNUPS_PER_HOUR_TOTAL is "-1"/,
      /^TRUSTED_PROXIES holds "true"/,
      /^TRUSTED_PROXIES holds "10.0.0.1"/,
      /^CORS_ORIGINS holds "https:\/\/b.example\/"/,
      /^LOG_LEVEL is "loud"/,
      /^TLS_CERT is set without TLS_KEY/,
    ];
    expect(problems).toHaveLength(named.length);
    for (const [n, pattern] of named.entries()) expect(problems[n]).toMatch(pattern);
    expect(problems.join()).not.toContain("secret");
  });

  it("never repeat a value that may hold a password, whichever setting was given it", () => {
    for (const name of SETTINGS) {
      const [problem] = problemsOf({ [name]: "db://me:secret@host" });
      expect(problem ?? "").not.toContain("secret");
    }
  });

  it.each([
    ["DATA_DIRS", "DATA_DIR"],
    ["TRUSTED_PROXY", undefined],
    ["TRUSTED_PROXIE", "TRUSTED_PROXIES"],
    ["CORS_ORIGIN", "CORS_ORIGINS"],
    ["SIGN_UP", "SIGNUP"],
    ["TLSKEY", "TLS_KEY"],
    ["PATH", undefined],
    ["SPORT", undefined],
  ])("%s is taken for %s", (given, meant) => {
    const expected = meant === undefined ? [] : [`${given} is not a setting; did you mean ${meant}?`];
    expect(problemsOf({ [given]: "x" })).toEqual(expected);
  });

  it("no two settings' names are taken for each other", () => {
    const all = Object.fromEntries(SETTINGS.map((name) => [name, ""]));
    expect(problemsOf(all)).toEqual([]);
  });
});

describe("TRUSTED_PROXIES", () => {
  it.each(["10.0.0.0/8", "192.0.2.7/32", "fd00::/8", "::1/128", " 10.0.0.0/8 ,, fd00::/8 "])(
    "takes %j",
    (blocks) => {
      expect(problemsOf({ TRUSTED_PROXIES: blocks })).toEqual([]);
    },
  );

  it.each([
    "1",
    "true",
    "*",
    "10.0.0.1",
    "10.0.0.0/33",
    "fd00::/129",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "proxy/8",
  ])("refuses %j", (block) => {
    expect(problemsOf({ TRUSTED_PROXIES: block })).toEqual([expect.stringContaining("CIDR")]);
  });

  it.each(["0.0.0.0/0", "::/0"])("refuses %j, which would trust everybody", (block) => {
    expect(problemsOf({ TRUSTED_PROXIES: block })).toEqual([expect.stringContaining("everybody")]);
  });
});

describe("CORS_ORIGINS", () => {
  it.each(["*", "https://app.example.org", "http://localhost:5173, https://a.example"])(
    "takes %j",
    (list) => {
      expect(problemsOf({ CORS_ORIGINS: list })).toEqual([]);
    },
  );

  it.each([
    "app.example.org",
    "https://a.example/",
    "https://a.example/x",
    "HTTPS://a.example",
    "null",
    "file://",
  ])("refuses %j", (origin) => {
    expect(problemsOf({ CORS_ORIGINS: origin })).toEqual([expect.stringContaining("it must be an origin")]);
  });
});

describe("TLS_CERT and TLS_KEY", () => {
  it("belong together", () => {
    expect(loadConfig({ TLS_CERT: "c.pem", TLS_KEY: "k.pem" })).toMatchObject({
      tlsCert: "c.pem",
      tlsKey: "k.pem",
    });
    expect(problemsOf({ TLS_KEY: "k.pem" })).toEqual([expect.stringContaining("TLS_CERT")]);
  });
});
