import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startServer, type TestServer } from "../support/server.js";

const PROGRAM = fileURLToPath(new URL("../../dist/src/recalld.js", import.meta.url));

// Each call starts a process, beside all other tests.
vi.setConfig({ testTimeout: 60_000 });

describe("recalld's own command line", () => {
  const folder = mkdtempSync(join(tmpdir(), "recalld-cli-"));
  const profile = join(folder, "profile.json");
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ env: { FREE_CALLS: "12" } });
  }, 60_000);
  afterAll(() => server?.stop());

  const recalld = async (args: readonly string[], more: { env?: object; input?: string } = {}) => {
    const { env = { RECALLD_URL: server.url }, input = "" } = more;
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: { PATH: process.env.PATH, HOME: folder, RECALLD_PROFILE: profile, ...env },
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (err += chunk));
    child.stdin.end(input);
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return { code, out, err };
  };

  it("says what is missing before there is a key", async () => {
    const { code, err } = await recalld(["recall", "tea?"]);
    expect(code).toBe(2);
    expect(err).toContain("recalld signup");
  });

  it("signs up into a profile that only its owner can read, and prints no key", async () => {
    const { code, out } = await recalld(["signup"]);
    expect(code).toBe(0);
    const { url, api_key } = JSON.parse(readFileSync(profile, "utf8"));
    expect(url).toBe(server.url);
    expect(out).not.toContain(api_key);
    expect(statSync(profile).mode & 0o777).toBe(0o600);
  });

  it("stores from the line, the standard input and a file, and recalls", async () => {
    expect((await recalld(["store", "Ada prefers tea over coffee.", "-m", "user=ada"])).code).toBe(0);
    expect((await recalld(["store"], { input: "The meeting was moved to Friday.\n" })).code).toBe(0);
    writeFileSync(join(folder, "note.txt"), "Invoice RX-4471 was paid in March.");
    expect((await recalld(["store", "--file", join(folder, "note.txt")])).code).toBe(0);
    const found = await recalld(["recall", "RX-4471?"]);
    expect(found.out.split("\n")[1]).toContain("Invoice RX-4471");
    const json = JSON.parse(
      (await recalld(["recall", "What does Ada like to drink?", "--json", "-k", "1"])).out,
    );
    expect(json.results[0]).toMatchObject({
      text: "Ada prefers tea over coffee.",
      metadata: { user: "ada" },
    });
  });

  it("lists, shows and forgets", async () => {
    const { memories } = JSON.parse((await recalld(["list", "--json"])).out);
    expect(memories).toHaveLength(3);
    expect((await recalld(["namespaces"])).out).toMatch(/3 +\S+ +default/);
    const [{ id }] = memories;
    expect((await recalld(["get", id])).out).toContain("Invoice RX-4471 was paid in March.");
    expect((await recalld(["forget", id])).code).toBe(0);
    const gone = await recalld(["get", id]);
    expect(gone).toMatchObject({ code: 4, out: "" });
    expect(gone.err).toContain("not_found");
  });

  it("ends with a code that says what a script can do", async () => {
    const stranger = { RECALLD_URL: server.url, RECALLD_API_KEY: `rcl_${"x".repeat(43)}` };
    expect((await recalld(["list"], { env: stranger })).code).toBe(3);
    expect((await recalld(["recall", "tea?", "-k", "21"])).code).toBe(2);
    expect((await recalld(["recall"])).code).toBe(2);
    expect((await recalld(["nonsense"])).code).toBe(2);
    expect((await recalld(["list"], { env: { RECALLD_URL: "http://127.0.0.1:9" } })).code).toBe(2);
    const nowhere = { RECALLD_URL: "http://127.0.0.1:9", RECALLD_API_KEY: "rcl_x" };
    const away = await recalld(["list"], { env: nowhere });
    expect(away.code).toBe(6);
    expect(away.err).toContain("cannot be reached");
    for (let i = 0; i < 12; i++) await recalld(["store", `Text ${i}`]);
    expect((await recalld(["store", "One more"])).code).toBe(5);
  }, 120_000);

  it("shows a memory's control characters to no terminal", async () => {
    await server.stop();
    server = await startServer();
    await recalld(["signup"]);
    await recalld(["store", "\u001b[31mred\u001b[0m"]);
    const { out } = await recalld(["list"]);
    expect(out).not.toContain("\u001b");
    expect(out).toContain("[31mred");
  });

  it("completes commands in each shell", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, out } = await recalld(["completion", shell]);
      expect(code).toBe(0);
      expect(out).toContain("namespaces");
    }
    expect((await recalld(["completion", "csh"])).code).toBe(2);
  });

  it("serves without a word, and runs the operator's commands", async () => {
    const { code, out } = await recalld(["admin", "--help"]);
    expect(code).toBe(0);
    expect(out).toContain("accounts create");
    const child = spawn(process.execPath, [PROGRAM], {
      env: { PATH: process.env.PATH, PORT: "0", DATA_DIR: join(folder, "data") },
    });
    const ready = new Promise<string>((resolve) => {
      let said = "";
      child.stdout.on("data", (chunk) => {
        said += chunk;
        if (said.includes("is ready")) resolve(said);
      });
    });
    expect(await ready).toContain("address");
    child.kill("SIGKILL");
  });
});
