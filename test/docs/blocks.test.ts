import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandsOf, lineOf } from "../../src/admin/command-line.js";
import { adminCommands } from "../../src/admin/commands.js";
import { ROOT, read } from "../support/documents.js";
import { newDataDir } from "../support/server.js";

const ADMIN = "this test compares its commands with the program";
const DOCKER = "there is no Docker where the tests run; scripts/check-image.sh runs the image";
const CLUSTER = "no test runs in a cluster; the charts' tests render what is installed";
const MONGO = "MongoDB's own tools are not installed where the tests run";
const NETWORK = "it needs a model's hub or a server of models";

/** Code blocks of the operator's pages by how each begins: the test that runs or compares it, or why none does. */
const BLOCKS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  "docs/deploy.md": [
    ["docker build", DOCKER],
    ["docker compose up", DOCKER],
    ["(echo; cat deploy/mongo.env)", DOCKER],
    ["services:", "test/deploy/image.test.ts"],
    ["helm install recalld deploy/helm/recalld", CLUSTER],
    ["kubectl create secret generic recalld-mongodb \\", CLUSTER],
    ["kubectl create secret generic recalld-mongodb-password", CLUSTER],
    ["kubectl exec deployment/recalld", ADMIN],
    ["settings: {", CLUSTER],
    ["server-template replica", "test/deploy/balancers.test.ts"],
    ["- endpoint:", "test/deploy/balancers.test.ts"],
    ["kubectl exec statefulset/recalld", ADMIN],
    ["kubectl scale statefulset/recalld", ADMIN],
    ["kubectl exec recalld-stopped", ADMIN],
    ["helm upgrade", CLUSTER],
    ["const byNamespace", "test/docs/blocks.test.ts"],
    ["map $request_uri", "nginx is not installed where the tests run"],
    ["sh.enableSharding", MONGO],
  ],
  "docs/operations.md": [
    ["KEY=$(recalld-admin", ADMIN],
    ["recalld-admin backup", ADMIN],
    ["17 * * * *", ADMIN],
    ["DATA_DIR=/data recalld-admin restore", ADMIN],
    ["mongodump", MONGO],
    ["mongorestore", MONGO],
    ["recalld-admin verify", ADMIN],
    ["recalld-admin reembed", ADMIN],
    ["default-src 'none'", "test/e2e/portal-serving.test.ts"],
    ["scrape_configs:", "Prometheus is not installed where the tests run"],
    ["{", "test/observability.test.ts"],
  ],
  "docs/models.md": [
    ["npm run -s model -- pull", NETWORK],
    ["$ recalld export", NETWORK],
    ["MODEL=openai:", NETWORK],
  ],
};

const blocksOf = (page: string) =>
  [...read(page).matchAll(/^ *```\w+\n(.*?)^ *```$/gms)].map(([, code = ""]) => code.trim());

describe.each(Object.entries(BLOCKS))("the code blocks of %s", (page, listed) => {
  test("are run by a test, or there is a reason", () => {
    const found = blocksOf(page);
    expect(found.filter((code, i) => !code.startsWith(listed[i]?.[0] ?? "\0"))).toEqual([]);
    expect(found).toHaveLength(listed.length);
  });

  test("are on the page for the tests that are named", () => {
    for (const [, by] of listed.filter(([, by]) => by.startsWith("test/"))) {
      expect(existsSync(join(ROOT, by)), by).toBe(true);
      expect(read(by)).toContain(page);
    }
  });

  test("call recalld-admin by commands and options that there are", () => {
    const commands = commandsOf(adminCommands(async () => {}));
    const calls = blocksOf(page).flatMap((code) => [...code.matchAll(/recalld-admin ([a-z].*)/g)]);
    for (const [, line = ""] of calls) {
      const command = commands.find((each) => {
        const names = lineOf(each)
          .split(" ")
          .filter((word) => /^[a-z]/.test(word));
        return `${line.trim()} `.startsWith(`${names.join(" ")} `) || line.startsWith(`${names.join(" ")})`);
      });
      expect(command, line).toBeDefined();
      const options = command?.options.map(({ long }) => long) ?? [];
      for (const [option] of line.matchAll(/--[\w-]+/g)) expect(options, line).toContain(option);
    }
  });
});

test("the interceptor of docs/deploy.md names the namespace of a call, percent-encoded", async () => {
  const source = blocksOf("docs/deploy.md").find((code) => code.startsWith("const byNamespace")) ?? "";
  const file = join(newDataDir(), "by-namespace.ts");
  writeFileSync(file, `export ${source}`);
  const { byNamespace } = await import(file);
  const headerOf = (message: object) => {
    const request = { message, header: new Headers() };
    byNamespace(() => undefined)(request);
    return request.header.get("recalld-namespace");
  };
  expect(headerOf({ namespace: "pets/ä" })).toBe("pets%2F%C3%A4");
  expect(headerOf({})).toBe(null);
});
