import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHARGE_OUTCOMES, PARTS } from "../src/observability/metrics.js";
import { signUp } from "./support/caller.js";
import { items, section } from "./support/documents.js";
import { groupingsIn, selectorsIn } from "./support/promql.js";
import { type Scrape, scrape } from "./support/scrape.js";
import { startServer, type TestServer } from "./support/server.js";

// The dashboard, the alert rules and the documentation name metrics and labels. A server shows whether they
// exist.

const ROOT = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const ALERTS = "deploy/prometheus/alerts.yaml";
/** Labels that Prometheus adds or that a bucket has. */
const GIVEN = ["job", "instance", "le"];

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { expr: string }[];
}
interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { list: readonly { query: unknown }[] };
  readonly annotations: { list: readonly { expr: string }[] };
}

const dashboard = JSON.parse(read("deploy/grafana/recalld.json")) as Dashboard;
const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr })),
);
const alerts = [...read(ALERTS).matchAll(/- alert: (\w+)\n\s+expr:([\s\S]*?)\n\s+(?:for|labels):/g)].map(
  ([, name = "", expr = ""]) => ({ name, expr }),
);

let server: TestServer;
let found: Scrape;

beforeAll(async () => {
  server = await startServer({ env: { METRICS_PORT: "0" } });
  const caller = await signUp(server.url);
  await caller.store({ text: "The cat sleeps.", namespace: "n" });
  await caller.recall("cat", "n");
  found = await scrape(server.metricsUrl);
}, 60_000);
afterAll(() => server.stop());

const PROMTOOL = process.env.PROMTOOL ?? "promtool";
const reasonToSkip = spawnSync(PROMTOOL, ["--version"]).status === 0 ? "" : " (skipped: no promtool)";
if (reasonToSkip && process.env.REQUIRE_PROMTOOL === "1")
  throw new Error("no promtool in PATH, and PROMTOOL names none; Debian's package is prometheus");

/**
 * Runs promtool.
 *
 * @throws Error with its message when it finds a fault.
 */
function promtool(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, args, { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(stdout + stderr);
}

/** Lists everything in an expression that no scrape has. */
function missingFrom(expression: string): string[] {
  const asked = selectorsIn(expression);
  if (asked.length === 0) return [`no metric in ${expression}`];
  const missing: string[] = [];
  const labelsSeen = new Set(GIVEN);
  for (const { metric, labels } of asked) {
    const samples = found.samples.filter(({ name }) => name === metric);
    if (samples.length === 0) missing.push(metric);
    for (const { labels } of samples) for (const label of Object.keys(labels)) labelsSeen.add(label);
    for (const { name, operator, value } of labels) {
      if (GIVEN.includes(name)) continue;
      const values = new Set(samples.map(({ labels }) => labels[name]));
      if (values.has(undefined)) missing.push(`${metric}{${name}}`);
      // A code appears with the first call that ends with it, so codes are compared with the list of codes
      // below.
      if (name === "rpc_response_status_code" || !operator.startsWith("=")) continue;
      const pattern = operator === "=" ? undefined : new RegExp(`^(?:${value})$`);
      const has = [...values].some((each) => (pattern ? pattern.test(each ?? "") : each === value));
      if (!has) missing.push(`${metric}{${name}${operator}"${value}"}`);
      const choices = /^[\w|]+$/.test(value) ? value.split("|") : [];
      for (const choice of choices) if (!values.has(choice)) missing.push(`${metric}{${name}="${choice}"}`);
    }
  }
  for (const label of groupingsIn(expression)) if (!labelsSeen.has(label)) missing.push(`by (${label})`);
  return missing;
}

describe("deploy/grafana/recalld.json", () => {
  test("asks for something in many panels", () => expect(panels.length).toBeGreaterThan(30));

  test.each(panels)("$title: $expr", ({ expr }) => {
    expect(missingFrom(expr)).toEqual([]);
    expect(expr).toContain('job=~"$job",instance=~"$instance"');
  });

  test.skipIf(reasonToSkip)(`its queries are PromQL, says promtool${reasonToSkip}`, () => {
    const ranged = (expr: string) => expr.replaceAll("$__rate_interval", "5m");
    const rules = panels.map(({ expr }, i) => ({ record: `panel:${i}`, expr: ranged(expr) }));
    const file = join(mkdtempSync(join(tmpdir(), "recalld-rules-")), "panels.yaml");
    // JSON is also YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: "panels", rules }] }));
    promtool("check", "rules", file);
    writeFileSync(
      file,
      JSON.stringify({ groups: [{ name: "one", rules: [{ record: "a", expr: "sum(" }] }] }),
    );
    expect(() => promtool("check", "rules", file)).toThrow("parse");
    rmSync(dirname(file), { recursive: true });
  });

  test("every panel has a unit", () => {
    const without = dashboard.panels.filter(
      ({ type, fieldConfig }) => type !== "row" && fieldConfig?.defaults.unit === undefined,
    );
    expect(without.map(({ title }) => title)).toEqual([]);
  });

  test("asks in its variables and annotations for what there is", () => {
    const queries = dashboard.templating.list.map(({ query }) => JSON.stringify(query)).join();
    expect(missingFrom(queries.replaceAll('\\"', '"'))).toEqual([]);
    for (const { expr } of dashboard.annotations.list) expect(missingFrom(expr)).toEqual([]);
  });
});

describe(ALERTS, () => {
  test("has rules", () => expect(alerts.length).toBe(read(ALERTS).match(/- alert:/g)?.length));

  test.each(alerts)("$name asks for what there is", ({ expr }) => expect(missingFrom(expr)).toEqual([]));

  test("what is not there is found", () => {
    expect(missingFrom('recalld_nothing{step="charge"} > 0')).toContain("recalld_nothing");
    expect(missingFrom('recalld_queue_depth{line="append"}')).toContain("recalld_queue_depth{line}");
    expect(missingFrom('recalld_queue_depth{queue=~"append|indexing"}')).toContain(
      'recalld_queue_depth{queue="indexing"}',
    );
    expect(missingFrom("sum by (stage) (recalld_ready)")).toContain("by (stage)");
  });

  test.skipIf(reasonToSkip)(`is right, and fires when it should, says promtool${reasonToSkip}`, () => {
    promtool("check", "rules", ALERTS);
    promtool("test", "rules", "test/fixtures/alerts.yaml");
  });
});

describe("the metrics and logs in docs/operations.md", () => {
  const document = read("docs/operations.md");
  const tables = [...document.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) =>
    table
      .trim()
      .split("\n")
      .map((line) =>
        line
          .split("|")
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
  );
  const rowsOf = (...head: string[]) =>
    tables
      .filter(([first]) => String(first?.slice(0, head.length)) === String(head))
      .flatMap((table) => table.slice(2));
  const quoted = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word as string);

  const listed = rowsOf("Name", "Type", "Labels", "Meaning").flatMap(([names, type, labels = ""]) =>
    quoted(names).map((name) => ({
      name,
      type,
      // Their values are in parentheses.
      labels: quoted(labels.replace(/\([^)]*\)/g, "")),
      values: [...labels.matchAll(/`(\w+)` \((`[^)]*`)\)/g)].map(([, label = "", values]) => ({
        label,
        values: quoted(values),
      })),
    })),
  );

  test("lists every metric, and no other", () => {
    expect(listed.map(({ name }) => name).sort()).toEqual([...found.types.keys()].sort());
  });

  test.each(listed)("tells the type and the labels of $name", ({ name, type, labels }) => {
    expect(type).toBe(found.types.get(name));
    const samples = found.samples.filter(
      (sample) => sample.name.replace(/_(bucket|sum|count)$/, "") === name || sample.name === name,
    );
    const seen = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    seen.delete("le");
    // A process may have none of these at the moment.
    if (samples.length > 0) expect([...seen].sort()).toEqual([...labels].sort());
  });

  const bounded = listed.flatMap(({ name, values }) => values.map((labels) => ({ name, ...labels })));
  test.each(bounded)("tells every value of $label of $name", ({ name, label, values }) => {
    const seen = found.samples
      .filter((sample) => sample.name === name || sample.name === `${name}_count`)
      .map(({ labels }) => labels[label]);
    expect([...new Set(seen)].filter((value) => !values.includes(value as string))).toEqual([]);
    if (name !== "rpc_server_call_duration_seconds")
      expect([...new Set(seen)].sort()).toEqual([...values].sort());
  });

  test("tells every outcome of a charge, and every part that can fail", () => {
    const valuesOf = (name: string) => bounded.find((each) => each.name === name)?.values;
    expect(valuesOf("recalld_charges_total")).toEqual([...CHARGE_OUTCOMES]);
    expect(valuesOf("recalld_troubles_total")).toEqual([...PARTS]);
  });

  test("tells every step", () => {
    const steps = new Set(found.samples.flatMap(({ labels }) => labels.step ?? []));
    // The last section of its page's part.
    const [listed = ""] = section("docs/operations.md", "### Steps").split("\n## ");
    expect(items(listed).map(([step]) => step)).toEqual([...steps]);
  });

  test("tells what to do about every alert", () => {
    expect(items(section("docs/operations.md", "## Alerts")).map(([alert]) => alert)).toEqual(
      alerts.map(({ name }) => name),
    );
  });

  test("names only codes that there are", () => {
    const headings = [...section("docs/errors.md", "## Codes").matchAll(/^### (.+)$/gm)];
    const codes = headings.map(([, heading = ""]) => heading.toLowerCase().replaceAll(" ", "_"));
    const named = [...alerts, ...panels].flatMap(({ expr }) =>
      selectorsIn(expr).flatMap(({ labels }) =>
        labels
          .filter(({ name }) => name === "rpc_response_status_code")
          .flatMap(({ value }) => value.split("|")),
      ),
    );
    expect(named.length).toBeGreaterThan(5);
    // `unknown` and `data_loss` are not used here, and would count as faults.
    const others = ["ok", "unknown", "data_loss", "deadline_exceeded"];
    expect([...new Set(named)].filter((code) => !codes.includes(code) && !others.includes(code))).toEqual([]);
  });

  test("shows a call's line as it is", () => {
    const shown = JSON.parse(/^```json\n([^`]*)\n```$/m.exec(document)?.[1] ?? "{}");
    const lines = server.output().match(/^\{.*"msg":"call"\}$/gm) ?? [];
    expect(lines.length).toBeGreaterThan(0);
    // Only with tracing, or where the caller says in which trace it is.
    const fields = new Set(["traceId", ...lines.flatMap((line) => Object.keys(JSON.parse(line)))]);
    expect(Object.keys(shown).sort()).toEqual([...fields].sort());
  });
});
