import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { DescMessage } from "@bufbuild/protobuf";
import type { Code } from "@connectrpc/connect";
import { codeFromString, codeToHttpStatus, codeToString } from "@connectrpc/connect/protocol-connect";
import { describe, expect, test } from "vitest";
import { AccountService } from "../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../gen/recalld/v1/memory_pb.js";
import { KEYS_MAX } from "../src/accounts/account.js";
import { GRACE_SECONDS_MAX, KEY_NAME_BYTES_MAX } from "../src/accounts/keys.js";
import { EMAIL_BYTES_MAX } from "../src/accounts/sign-up.js";
import { USAGE_DAYS_MAX } from "../src/accounts/usage.js";
import { type Config, loadConfig } from "../src/config.js";
import { FAMILIES, familyOf } from "../src/embedding/convention/families.js";
import { HUB } from "../src/embedding/download/pull.js";
import { type ErrorCode, MemoryError, REASONS } from "../src/errors.js";
import { MAP_POINTS_MAX } from "../src/memory/calls/map.js";
import { IDEMPOTENCY_KEPT_MS, IDEMPOTENCY_KEY_CHARS_MAX } from "../src/memory/idempotency/idempotency.js";
import { count } from "../src/memory/input/count.js";
import { METADATA_BYTES_MAX, METADATA_DEPTH_MAX } from "../src/memory/input/metadata.js";
import { NAMESPACE_BYTES_MAX } from "../src/memory/input/namespace.js";
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from "../src/memory/input/page.js";
import { TEXT_BYTES_MAX } from "../src/memory/input/text.js";
import { TOP_K_DEFAULT, TOP_K_MAX } from "../src/memory/input/top-k.js";
import { commandsOf, lineOf } from "../src/operator/command-line.js";
import { adminCommands, EXIT } from "../src/operator/commands.js";
import { BODY_BYTES_MAX } from "../src/server/app.js";
import { toConnectError } from "../src/server/wire/errors.js";
import { SETTINGS } from "../src/settings.js";
import { startServer } from "./support/server.js";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** Every source file's text, by its path. */
const sources = new Map(
  readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .map((path) => [path, read(path)]),
);

/** Every document that is written for this repository's readers. */
const documents = [
  ...readdirSync(ROOT).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** The text under a heading, down to the next one of its rank. */
function section(path: string, heading: string): string {
  const [, rest] = read(path).split(new RegExp(`^${heading}$`, "m"));
  if (rest === undefined) throw new Error(`${path} has no "${heading}"`);
  const rank = heading.split(" ", 1)[0];
  return rest.split(new RegExp(`^${rank} `, "m"))[0] as string;
}

/** The rows of the first table in a text, without its head. */
function rows(text: string): string[][] {
  const table = /(?:^\|.*\n)+/m.exec(text)?.[0] ?? "";
  const cells = (line: string) => line.split("|").slice(1, -1);
  return table
    .trim()
    .split("\n")
    .slice(2)
    .map((line) => cells(line).map((cell) => cell.trim()));
}

const unquoted = (cell = "") => cell.replaceAll("`", "");
/** What stands between backticks. */
const quoted = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word as string);
/** Every code block of a language. */
const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(
    ([, code]) => code as string,
  );

describe("docs/errors.md", () => {
  const listed = new Map(
    rows(section("docs/errors.md", "## Codes")).map(([code, http]) => [unquoted(code), http]),
  );
  const [, union = ""] = /export type ErrorCode =([^;]+);/.exec(read("src/errors.ts")) ?? [];
  const codes = [...union.matchAll(/"(\w+)"/g)].map(([, code]) => code as ErrorCode);

  test.each(codes)("lists %s with the status it has on the wire", (code) => {
    const { code: onWire } = toConnectError(new MemoryError(code, ""));
    expect(codeToString(onWire)).toBe(code);
    expect(listed.get(code)).toContain(String(codeToHttpStatus(onWire)));
  });

  test.each([...listed])("lists only codes that there are: %s", (code, http) => {
    const onWire = codeFromString(code) as Code | undefined;
    expect(onWire).toBeDefined();
    expect(http).toContain(String(codeToHttpStatus(onWire as Code)));
  });

  const reasons = rows(section("docs/errors.md", "## Reasons"));

  test("lists every reason of the catalogue, and no other", () => {
    expect(reasons.map(([reason]) => unquoted(reason)).sort()).toEqual(Object.keys(REASONS).sort());
  });

  test.each(Object.entries(REASONS))("says of %s when it is given", (reason, when) => {
    const [, , meaning] = reasons.find(([cell]) => unquoted(cell) === reason) ?? [];
    expect(`${meaning}.`).toContain(when);
  });

  test.each(Object.keys(REASONS))("lists no reason that nothing gives: %s", (reason) => {
    const given = new RegExp(`(?:\\breason: |denied\\(\\s*)"${reason}"`);
    expect([...sources.values()].some((source) => given.test(source))).toBe(true);
  });
});

describe("docs/configuration.md", () => {
  const settings = rows(section("docs/configuration.md", "## Settings"));
  const keyOf: Record<(typeof SETTINGS)[number], keyof Config> = {
    PORT: "port",
    HOST: "host",
    DATA_DIR: "dataDir",
    MONGODB_URI: "mongodbUri",
    MODEL: "model",
    MODELS_DIR: "modelsDir",
    MODELS_HUB: "modelsHub",
    MODEL_POOLING: "modelPooling",
    MODEL_QUERY_PREFIX: "modelQueryPrefix",
    MODEL_PASSAGE_PREFIX: "modelPassagePrefix",
    EMBED_WORKERS: "embedWorkers",
    SIGNUP: "signUp",
    SIGNUPS_PER_HOUR: "signUpsPerHour",
    SIGNUPS_PER_HOUR_TOTAL: "signUpsPerHourTotal",
    FREE_CALLS: "freeCalls",
    PLANS_FILE: "plansFile",
    CONNECTIONS_MAX: "connectionsMax",
    CONNECTIONS_PER_ADDRESS_MAX: "connectionsPerAddressMax",
    TRUSTED_PROXIES: "trustedProxies",
    TLS_CERT: "tls",
    TLS_KEY: "tls",
    CORS_ORIGINS: "corsOrigins",
    LOG_LEVEL: "logLevel",
    METRICS_PORT: "metricsPort",
    METRICS_ACCOUNTS_MAX: "metricsAccountsMax",
    OTEL_EXPORTER_OTLP_ENDPOINT: "otlpEndpoint",
    INDEX_MEMORY_BYTES_MAX: "indexMemoryBytesMax",
    QUERY_CACHE_BYTES_MAX: "queryCacheBytesMax",
    DRAIN_NOTICE_MS: "drainNoticeMs",
    SHUTDOWN_TIMEOUT_MS: "shutdownTimeoutMs",
  };
  const accepts = (name = "", value: string | number) => {
    try {
      loadConfig({ [unquoted(name)]: String(value) });
      return true;
    } catch {
      return false;
    }
  };

  test("lists every setting, in the order of the source", () => {
    expect(settings.map(([name]) => unquoted(name))).toEqual(SETTINGS);
  });

  test.each(settings)("tells the default of %s: %s", (name, shown) => {
    const value = loadConfig({})[keyOf[unquoted(name) as (typeof SETTINGS)[number]]];
    const none = value === undefined || (Array.isArray(value) && value.length === 0);
    // Some depend on others, in words.
    const said: Record<string, string> = {
      MODELS_HUB: `\`${HUB}\``,
      MODEL_POOLING: "the model's own",
      MODEL_QUERY_PREFIX: "the model's own",
      MODEL_PASSAGE_PREFIX: "the model's own",
      MODELS_DIR: "`models` in `DATA_DIR`",
      EMBED_WORKERS: "cores less one, at least 1",
    };
    expect(shown).toBe(said[unquoted(name)] ?? (none ? "none" : `\`${value}\``));
  });

  const ranges = settings.flatMap(([name, , values = ""]) => {
    const [, min, max] = /^(\d+) (?:to (\d+)|or more)/.exec(values) ?? [];
    return min === undefined ? [] : [{ name, min: Number(min), max: max && Number(max) }];
  });
  test.each(ranges)("tells the range of $name", ({ name, min, max }) => {
    expect(accepts(name, min)).toBe(true);
    expect(accepts(name, min - 1)).toBe(false);
    if (!max) return;
    expect(accepts(name, max)).toBe(true);
    expect(accepts(name, max + 1)).toBe(false);
  });

  test.each(["SIGNUP", "LOG_LEVEL", "MODEL_POOLING"])("tells the choices of %s", (name) => {
    const values = quoted(settings.find(([each]) => unquoted(each) === name)?.[2]);
    expect(values.filter((value) => !accepts(name, value))).toEqual([]);
    const choices = /one of (.*)$/.exec(
      (() => {
        try {
          return String(loadConfig({ [name]: "?" }));
        } catch (error) {
          return (error as Error).message;
        }
      })(),
    )?.[1];
    expect(values.join(", ")).toBe(choices);
  });
});

describe("docs/api.md", () => {
  const calls = new Map(
    rows(section("docs/api.md", "## Calls")).map(([rpc, path]) => [unquoted(rpc), unquoted(path)]),
  );
  const methods = [MemoryService, AccountService].flatMap((service) =>
    service.methods.map((method) => ({ name: `${service.name}/${method.name}`, method })),
  );
  const proto = read("proto/recalld/v1/memory.proto") + read("proto/recalld/v1/account.proto");

  test("lists every RPC, and no other", () => {
    expect([...calls.keys()]).toEqual(methods.map(({ name }) => name));
  });

  test("gives each RPC the plain path that the contract names", () => {
    const served = [...proto.matchAll(/Also served as\s+(?:\/\/ )?`(\w+ [^`]+)`[^;]*?rpc (\w+)/g)];
    expect(served.length).toBeGreaterThan(5);
    const named = new Map(served.map(([, path, rpc]) => [rpc as string, path as string]));
    for (const { name, method } of methods) expect(calls.get(name)).toBe(named.get(method.name) ?? "–");
  });

  test.each(methods)("tells every field of $name", ({ method }) => {
    const prose = section("docs/api.md", `## ${method.name}`).replace(/^```.*?^```$/gms, "");
    const told = new Set(quoted(prose).map((word) => word.replace(/^.*\[\]\./, "")));
    const fields = [...method.input.fields, ...method.output.fields].map(({ name }) => name);
    expect(fields.filter((name) => !told.has(name))).toEqual([]);
  });

  test("tells every field of what answers are made of", () => {
    const prose = read("docs/api.md").replace(/^```.*?^```$/gms, "");
    const told = new Set(quoted(prose).map((word) => word.replace(/^.*\[\]\./, "")));
    const parts = (message: DescMessage): DescMessage[] =>
      message.fields.flatMap(({ message: part }) =>
        part?.file.proto.package === "recalld.v1" ? [part] : [],
      );
    const fields = methods.flatMap(({ method }) => parts(method.output)).flatMap(({ fields }) => fields);
    expect(fields.map(({ name }) => name).filter((name) => !told.has(name))).toEqual([]);
  });

  const limits: [heading: string, said: string][] = [
    ["## JSON", `${count(BODY_BYTES_MAX)} bytes`],
    ["## Store", `at most ${count(TEXT_BYTES_MAX)} bytes`],
    ["## Store", `1 to ${NAMESPACE_BYTES_MAX} bytes`],
    ["## Store", `${count(METADATA_BYTES_MAX)} bytes as JSON, ${METADATA_DEPTH_MAX} levels deep`],
    [
      "## Headers",
      `1 to ${IDEMPOTENCY_KEY_CHARS_MAX} characters, kept for ${IDEMPOTENCY_KEPT_MS / 3_600_000} hours`,
    ],
    ["## Recall", `1 to ${TOP_K_MAX}, ${TOP_K_DEFAULT} when left out`],
    ["## ListMemories", `1 to ${PAGE_SIZE_MAX}, ${PAGE_SIZE_DEFAULT} when left out`],
    ["## ListNamespaces", `1 to ${PAGE_SIZE_MAX}, ${PAGE_SIZE_DEFAULT} when left out`],
    ["## MapNamespace", `${count(MAP_POINTS_MAX)} memories`],
    ["## SignUp", `at most ${EMAIL_BYTES_MAX} bytes`],
    ["## GetUsage", `1 to ${USAGE_DAYS_MAX}`],
    ["## CreateKey", `at most ${KEY_NAME_BYTES_MAX} bytes`],
    ["## CreateKey", `0 to ${count(GRACE_SECONDS_MAX)}`],
    ["## CreateKey", `at most ${KEYS_MAX} keys`],
  ];
  test.each(limits)("%s says: %s", (heading, said) => {
    expect(section("docs/api.md", heading)).toContain(said);
  });

  test.each(limits.slice(0, 6))("so does the README, of %s: %s", (_, said) => {
    expect(section("README.md", "## Limits")).toContain(said.replace(/^at most |^1 to (?=255)/, ""));
  });
});

describe("docs/operations.md", () => {
  test.each(rows(section("docs/operations.md", "## Bounds")))("%s: %s", (_, bound = "", where) => {
    const [name, path] = quoted(where);
    const found = new RegExp(`\\b${name}(?: =|:) ([\\d_.]+)[,;]`).exec(
      sources.get(path as string) ?? "",
    )?.[1];
    expect(found?.replaceAll("_", "")).toBe(/^[\d,.]+/.exec(bound)?.[0].replaceAll(",", ""));
  });
});

describe("docs/admin.md", () => {
  test("lists every command, as the program has it", () => {
    const listed = rows(section("docs/admin.md", "## Commands")).map(([command, does, options]) => [
      unquoted(command),
      does,
      quoted(options),
    ]);
    expect(listed).toEqual(
      commandsOf(adminCommands(async () => {})).map((command) => [
        lineOf(command),
        command.description(),
        command.options.map(({ long }) => long).filter((name) => name !== "--json"),
      ]),
    );
  });

  test("lists every exit code", () => {
    const codes = rows(section("docs/admin.md", "## For scripts")).map(([code]) => Number(code));
    expect(codes).toEqual(Object.values(EXIT));
  });
});

describe("docs/models.md", () => {
  const table = section("docs/models.md", "## Known families").replaceAll("\\|", "\u00a6");
  const families = rows(table).map((row) => row.map((cell) => cell.replaceAll("\u00a6", "|")));
  const shown = (prefix = "") => (prefix === "" ? "none" : `\`${prefix.replaceAll("\n", "\\n")}\``);

  test("lists every family that is known, as it is known", () => {
    const listed = families.map(([name, , pooling, query, passage, source]) => [
      name,
      unquoted(pooling),
      query,
      passage,
      /\((.*)\)/.exec(source ?? "")?.[1] ?? unquoted(source),
    ]);
    expect(listed).toEqual(
      FAMILIES.map(({ name, pooling, queryPrefix, passagePrefix, source }) => [
        name,
        pooling,
        shown(queryPrefix),
        shown(passagePrefix),
        source,
      ]),
    );
  });

  const examples = families.flatMap(([name, ids]) => quoted(ids).map((id) => ({ name, id })));
  test.each(examples)("counts $id among $name", ({ name, id }) => {
    expect(familyOf(id)?.name).toBe(name);
    expect(familyOf(`owner/${id}`)?.name).toBe(name);
  });
});

describe("every document", () => {
  const slug = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
  const anchorsIn = (path: string) =>
    [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) => slug(text));

  test.each(documents)("%s links only to what is there", (path) => {
    const links = [...read(path).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(
      ([, link = ""]) => link,
    );
    const dead = links.filter((link) => {
      const [file, anchor] = link.split("#");
      const target = file ? join(dirname(path), file) : path;
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsIn(target).includes(anchor);
    });
    expect(dead).toEqual([]);
  });

  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  test.each(documents)("%s names only scripts that there are", (path) => {
    const named = [...read(path).matchAll(/npm (?:run (?:-s )?([\w:-]+)|(start|test)\b)/g)];
    expect(
      named.map(([, run, short]) => run ?? (short as string)).filter((name) => !(name in scripts)),
    ).toEqual([]);
  });
});

describe("README.md", () => {
  const missing = ["bash", "curl"].filter((name) => spawnSync(name, ["--version"]).status !== 0).join(", ");
  const readme = read("README.md");
  const [first = ""] = blocks(section("README.md", "## First memories"), "sh");
  const [grpc = ""] = blocks(section("README.md", "## Other ways in"), "sh");
  const [shown = "{}"] = blocks(section("README.md", "## First memories"), "json");

  test.skipIf(missing !== "")(
    `has commands that do what it says (needs bash and curl; missing: ${missing || "none"})`,
    async () => {
      const server = await startServer();
      const script = `${first}\necho\n${grpc}`.replace("http://127.0.0.1:8080", server.url);
      const { stdout, stderr } = spawnSync("bash", ["-c", script], { cwd: ROOT, encoding: "utf8" });
      const [one, two, three, recalled = "", ...overGrpc] = stdout.trim().split("\n");
      for (const stored of [one, two, three]) expect(stored, stderr).toMatch(/^\{"id":"mem_/);
      const expected = JSON.parse(shown);
      const answer = JSON.parse(recalled);
      expect(Object.keys(answer)).toEqual(Object.keys(expected));
      expect(answer).toMatchObject({ namespace: expected.namespace, query_tokens: expected.query_tokens });
      expect(answer.results.map(({ text }: { text: string }) => text)).toEqual(
        expected.results.map(({ text }: { text: string }) => text),
      );
      for (const [i, { score }] of answer.results.entries()) {
        expect(score).toBeCloseTo(expected.results[i].score, 1);
      }
      const overGrpcAnswer = JSON.parse(overGrpc.join("\n") || `"${stderr}"`);
      expect(overGrpcAnswer.results[0].text).toBe("Her flight to Lisbon leaves on Friday evening.");
      expect(await server.stop()).toBe(0);
    },
    60_000,
  );

  test("names the versions of Node that are tested", () => {
    expect(readme).toContain("Node 20.20 or newer");
    expect(read("CONTRIBUTING.md")).toContain("Node 20.20 or newer");
  });
});
