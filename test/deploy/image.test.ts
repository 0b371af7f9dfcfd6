import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { loadConfig, SETTINGS } from "../../src/config/config.js";
import { startServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const filesBelow = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
const { version } = JSON.parse(read("package.json")) as { version: string };

describe("the Dockerfile", () => {
  const dockerfile = read("Dockerfile").replaceAll("\\\n", " ");
  const arguments_ = (instruction: string) =>
    [...dockerfile.matchAll(new RegExp(`^${instruction} +(.*)$`, "gm"))].map(([, rest]) => rest as string);
  const [, built = "", ran = ""] = dockerfile.split(/^FROM /m);

  test("copies all that .dockerignore lets through, and that is there", () => {
    const letThrough = read(".dockerignore")
      .split("\n")
      .flatMap((line) => (line.startsWith("!") ? line.slice(1) : []));
    const copied = arguments_("COPY")
      .filter((rest) => !rest.startsWith("--from"))
      .flatMap((rest) => rest.split(" ").slice(0, -1));
    expect(copied.sort()).toEqual(letThrough.sort());
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test("runs as a user with a number, on what it says it serves", () => {
    expect(ran).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    const [env = ""] = /^ENV .*$/m.exec(ran) ?? [];
    const settings = Object.fromEntries(
      [...env.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
    );
    const { port, host, dataDir } = loadConfig(settings);
    expect(arguments_("EXPOSE")).toEqual([String(port)]);
    expect(arguments_("VOLUME")).toEqual([dataDir]);
    expect(host).toBe("0.0.0.0");
  });

  test("says the version of the program, and builds with a Node that is tested", () => {
    expect(ran).toContain(`org.opencontainers.image.version="${version}"`);
    const { jobs } = parse(read(".github/workflows/ci.yml"));
    const [, major] = /NODE_IMAGE=\S*node:(\d+)/.exec(dockerfile) ?? [];
    expect(jobs.test.strategy.matrix.node).toContain(Number(major));
  });

  test("starts and asks what the production tree has", () => {
    expect(built).toContain("scripts/production-tree.js /app");
    expect(arguments_("CMD")).toEqual(['["node", "dist/src/main.js"]']);
    expect(arguments_("HEALTHCHECK")[0]).toContain('CMD ["node", "health.js"]');
    expect(read("scripts/production-tree.js")).toContain('"health.js"');
  });

  test("gives a start the time that the chart gives it", () => {
    const [, seconds] = /--start-period=(\d+)s/.exec(dockerfile) ?? [];
    const { startupSeconds } = parse(read("deploy/helm/recalld/values.yaml"));
    expect(Number(seconds)).toBe(startupSeconds);
  });

  test("needs no init: the program starts no processes", () => {
    const starters = filesBelow("src").filter((code) => /node:child_process|node:cluster/.test(code));
    expect(starters).toEqual([]);
  });

  test("names what the portal is compiled from", () => {
    const [, portal = ""] = /PORTAL = \[([^\]]*)\]/.exec(read("scripts/production/rules.js")) ?? [];
    const named = [...portal.matchAll(/"(.*)"/g)].map(([, name]) => name as string);
    const imported = ["web/src", "web/docs"]
      .flatMap(filesBelow)
      .flatMap((code) =>
        [...code.matchAll(/^(?:import|}) .*from "((?:@[^/"]+\/)?[^./"][^/"]*)/gm)].map(
          ([, name]) => name as string,
        ),
      );
    // A sample that the portal shows has one.
    const shown = "@recalld/client";
    expect([...named, shown].sort()).toEqual([...new Set(imported)].sort());
  });
});

describe("health.js", () => {
  const folder = mkdtempSync(join(tmpdir(), "recalld-health-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const ask = async (env: Readonly<Record<string, string>>) => {
    const child: ChildProcess = spawn(process.execPath, [join(ROOT, "scripts/production/health.js")], {
      env,
    });
    const [code] = await once(child, "exit");
    return code;
  };

  test("finds a server well while it runs, and not after", async () => {
    const server = await startServer();
    const env = { PORT: String(server.port), HOST: "0.0.0.0" };
    expect(await ask(env)).toBe(0);
    await server.stop();
    expect(await ask(env)).toBe(1);
  });

  test("asks over TLS where the server does", async () => {
    const [key, cert] = [join(folder, "key"), join(folder, "cert")];
    const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    execFileSync("openssl", [...args, "-subj", "/CN=example.org", "-keyout", key, "-out", cert], {
      stdio: "pipe",
    });
    const tls = { TLS_CERT: cert, TLS_KEY: key };
    const server = await startServer({ env: tls });
    expect(await ask({ PORT: String(server.port), ...tls })).toBe(0);
    expect(await ask({ PORT: String(server.port) })).toBe(1);
    await server.stop();
  });
});

describe("compose.yaml", () => {
  const { services, networks } = parse(read("compose.yaml"));
  /** Settings that the image fixes, and those that need mounted files. */
  const FIXED = ["PORT", "HOST", "DATA_DIR", "MODELS_DIR", "TLS_CERT", "TLS_KEY"];

  test("passes every setting on, but for what the image fixes", () => {
    expect(services.recalld.environment).toEqual(SETTINGS.filter((name) => !FIXED.includes(name)));
  });

  test("begins with MongoDB only where it is asked for, and shows it to nobody else", () => {
    const { mongo, recalld } = services;
    expect(mongo.profiles).toEqual(["mongo"]);
    expect(mongo.ports).toBeUndefined();
    expect(mongo.networks).toEqual(["database"]);
    expect(networks.database.internal).toBe(true);
    expect(recalld.depends_on.mongo).toEqual({ condition: "service_healthy", required: false });
    const env = Object.fromEntries(
      [...read("deploy/mongo.env").matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(env.COMPOSE_PROFILES).toBe("mongo");
    const [, replicaSet] = /--replSet (\S+)/.exec(mongo.command.join(" ")) ?? [];
    expect(loadConfig({ MONGODB_URI: env.MONGODB_URI }).mongodbUri).toBe(
      `mongodb://mongo/recalld?replicaSet=${replicaSet}`,
    );
    expect(mongo.healthcheck.test.join(" ")).toContain(`_id: "${replicaSet}"`);
  });

  test("finds the file of plans where docs/deploy.md mounts it", () => {
    const [, override = ""] = /^```yaml\n(services:.*?)^```$/ms.exec(read("docs/deploy.md")) ?? [];
    const { recalld } = parse(override).services;
    const [name, file] = recalld.environment[0].split("=");
    expect(services.recalld.environment).toContain(name);
    expect(recalld.volumes[0].split(":")[1]).toBe(file);
  });

  test("runs on a read-only root, without rights, and is given time to end", () => {
    const { recalld } = services;
    expect(recalld).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
    const { drainNoticeMs, shutdownTimeoutMs } = loadConfig({});
    const flushMs = 30_000;
    expect(Number.parseInt(recalld.stop_grace_period, 10) * 1000).toBeGreaterThan(
      drainNoticeMs + shutdownTimeoutMs + flushMs,
    );
  });
});
