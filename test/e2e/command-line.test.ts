import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { program } from "../support/program.js";
import { startServer, type TestServer } from "../support/server.js";

const PROGRAM = program("recalld");

// Each call starts a process, beside all other tests.
vi.setConfig({ testTimeout: 60_000 });

describe("recalld's own command line", () => {
  const folder = mkdtempSync(join(tmpdir(), "recalld-cli-"));
  const profile = join(folder, "profile.json");
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ env: { FREE_CALLS: "60" } });
  }, 60_000);
  afterAll(() => server?.stop());

  const recalld = async (
    args: readonly string[],
    more: { env?: object; input?: string; unread?: boolean } = {},
  ) => {
    const { env = { RECALLD_URL: server.url }, input = "", unread = false } = more;
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: { PATH: process.env.PATH, HOME: folder, RECALLD_PROFILE: profile, ...env },
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => (out += chunk));
    if (unread) child.stderr.destroy();
    else child.stderr.on("data", (chunk) => (err += chunk));
    // A command that reads nothing may have ended.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return { code, out, err };
  };

  it("says what is missing before there is a key", async () => {
    const { code, err } = await recalld(["recall", "tea?"]);
    expect(code).toBe(3);
    expect(err).toContain("recalld signup");
  });

  it.each([
    ["keys", "create", "--namespace", ""],
    ["update", "mem_1", "new", "--etag", ""],
    ["export", "--url="],
    ["namespaces", "delete", ""],
  ])("does not take an empty value for one that is left out: %s %s", async (...args) => {
    const { code, err } = await recalld(args);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^recalld: (--\w+|NAME) is empty; see recalld [\w ]+ --help\n$/),
    ]);
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

  it.each([["list"], ["export"], ["watch"], ["model", "list"]])(
    "%s ends without a word when nobody reads any more",
    async (...command) => {
      const store = () => recalld(["store", "Somebody has left.", "-n", "unread"]);
      await store();
      const child = spawn(process.execPath, [PROGRAM, ...command], {
        env: {
          ...{ PATH: process.env.PATH, HOME: folder, RECALLD_PROFILE: profile },
          ...{ RECALLD_URL: server.url, RECALLD_NAMESPACE: "unread" },
        },
      });
      child.stdout.destroy();
      let err = "";
      child.stderr.on("data", (chunk) => (err += chunk));
      let code: number | null | undefined;
      child.once("close", (ended) => (code = ended));
      // A watch has something to say with the next change.
      while (code === undefined) await (command[0] === "watch" ? store() : sleep(20));
      expect([code, err]).toEqual([128 + constants.signals.SIGPIPE, ""]);
    },
  );

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

  it("stores once under an external id, updates, and supersedes", async () => {
    const ids = [];
    for (const action of ["refuse", "keep", "replace"]) {
      const options = ["--external-id", "city", "--on-conflict", action, "-n", "facts", "--json"];
      ids.push(JSON.parse((await recalld(["store", `Ada lives in Paris, ${action}.`, ...options])).out).id);
    }
    expect(new Set(ids).size).toBe(1);
    const [id] = ids;
    expect((await recalld(["update", id, "-n", "facts", "-m", "sure=yes", "--ttl", "3600s"])).code).toBe(0);
    expect((await recalld(["update", id, "Ada lives in Lyon.", "-n", "facts"])).code).toBe(0);
    const memory = JSON.parse((await recalld(["get", id, "-n", "facts", "--json"])).out);
    expect(memory).toMatchObject({ text: "Ada lives in Lyon.", metadata: { sure: "yes" } });
    expect(memory.expire_time).toBeDefined();
    await recalld(["store", "Ada lives in Lisbon.", "-n", "facts", "--supersedes", id]);
    const { memories } = JSON.parse((await recalld(["list", "-n", "facts", "--json"])).out);
    expect(memories.map(({ text }: { text: string }) => text)).toEqual(["Ada lives in Lisbon."]);
  });

  it("exports a namespace, and imports it into another one, once", async () => {
    const file = join(folder, "facts.jsonl");
    expect((await recalld(["export", "-n", "facts", "--file", file])).out).toMatch(/^1 memory is in /);
    const [piped, written] = [(await recalld(["export", "-n", "facts"])).out, readFileSync(file, "utf8")];
    // The times of the two exports, and so their checksums, differ.
    expect(piped.split("\n").slice(1, -2)).toEqual(written.split("\n").slice(1, -2));
    const into = ["import", file, "--from", "recalld", "-n", "copy", "--json"];
    expect(JSON.parse((await recalld([...into, "--dry-run"])).out)).toMatchObject({ stored: 1, already: 0 });
    const unheard = await recalld(into, { unread: true });
    expect(unheard.code, "nobody reads its progress").toBe(0);
    expect(JSON.parse(unheard.out)).toMatchObject({ stored: 1, already: 0, refused: 0 });
    expect(JSON.parse((await recalld(into)).out)).toMatchObject({ stored: 0, already: 1, refused: 0 });
    const wrong = await recalld(["import", file, "--from", "mem0", "-n", "copy"]);
    expect(wrong.code).toBe(1);
    expect(wrong.err).toContain("failed_precondition");
  });

  it("exports all namespaces, or those of a prefix, and imports each into its own, once", async () => {
    const file = join(folder, "all.jsonl");
    // The last profile that was made is the current one, which other tests use.
    const env = { RECALLD_URL: server.url, RECALLD_PROFILE: join(folder, "moving.json") };
    const run = (args: readonly string[], input = "") => recalld(args, { env, input });
    await run(["signup", "--profile", "from"]);
    await run(["signup", "--profile", "to"]);
    const [from, to] = [
      ["--profile", "from"],
      ["--profile", "to"],
    ];
    const texts = { "eva/a": "Eva sings.", "eva/b": "Eva dances.", "evan ß": "Evan reads." };
    for (const [name, text] of Object.entries(texts)) {
      await run(["store", text, "-n", name, "-m", "k=1", "--external-id", "same", ...from]);
    }
    const listed = async (...args: string[]) => {
      const { namespaces } = JSON.parse((await run(["namespaces", "--json", ...args])).out);
      return namespaces.map(({ namespace }: { namespace: string }) => namespace);
    };
    const some = await run(["export", "--all", "--prefix", "eva/", "--file", file, ...from]);
    expect(some.out).toBe(`2 memories of 2 namespaces are in ${file}\n`);
    const into = ["import", file, "--json", ...to];
    expect(JSON.parse((await run([...into, "--dry-run"])).out)).toMatchObject({
      from: "recalld-account",
      read: 2,
      stored: 2,
      refused: 0,
    });
    expect(await listed(...to)).toEqual([]);
    expect(JSON.parse((await run(into)).out)).toMatchObject({ stored: 2, already: 0, refused: 0 });
    expect(await listed(...to)).toEqual(["eva/a", "eva/b"]);
    const all = await run(["export", "--all", ...from]);
    const again = await run(["import", "-", "--json", ...to], all.out);
    expect(JSON.parse(again.out)).toMatchObject({ stored: 1, already: 2, refused: 0 });
    expect(await listed(...to)).toEqual(Object.keys(texts));
    for (const [name, text] of Object.entries(texts)) {
      const { memories } = JSON.parse((await run(["list", "--json", "-n", name, ...to])).out);
      expect(memories).toMatchObject([{ text, metadata: { k: 1 }, external_id: "same" }]);
    }
    const chosen = await run([...into, "-n", "other"]);
    expect(chosen.code).toBe(2);
    expect(chosen.err).toContain("leave out --namespace");
    const cut = await run(["import", "-", ...to], all.out.split("\n").slice(0, -2).join("\n"));
    expect(cut.code).toBe(1);
    expect(cut.err).toContain("not complete");
  });

  it("deletes the namespaces of a prefix, when told to, and says before which", async () => {
    for (const name of ["leo/a", "leo/b", "leon"]) await recalld(["store", "Leo sings.", "-n", name]);
    const by = ["namespaces", "delete", "--prefix", "leo/"];
    const dry = await recalld([...by, "--dry-run"]);
    expect(dry.out).toBe("2 namespaces begin with leo/; these hold 2 memories:\nleo/a\nleo/b\n");
    const careless = await recalld(by);
    expect(careless).toMatchObject({ code: 2, out: "" });
    expect(careless.err).toContain("--force");
    expect(JSON.parse((await recalld([...by, "--force", "--json"])).out)).toEqual({
      deleted: 2,
      memories: 2,
    });
    const { namespaces } = JSON.parse((await recalld(["namespaces", "--json"])).out);
    const names = namespaces.map(({ namespace }: { namespace: string }) => namespace);
    expect(names.filter((name: string) => name.startsWith("leo"))).toEqual(["leon"]);
  });

  it("prints the changes of a namespace, also after a position", async () => {
    const env = { PATH: process.env.PATH, HOME: folder, RECALLD_PROFILE: profile };
    const changes = async (more: readonly string[], lines: number) => {
      const child = spawn(process.execPath, [PROGRAM, "watch", "-n", "seen", "--json", ...more], { env });
      let out = "";
      child.stdout.on("data", (chunk) => (out += chunk));
      const events = () => out.split("\n").slice(0, -1);
      await vi.waitFor(
        async () => {
          if (more.length === 0 && events().length < lines) await recalld(["store", "tick", "-n", "seen"]);
          expect(events().length).toBeGreaterThanOrEqual(lines);
        },
        { timeout: 30_000, interval: 200 },
      );
      child.kill();
      return events().map((each) => JSON.parse(each));
    };
    const [first] = await changes([], 2);
    expect(first).toMatchObject({ event: "stored", text: "tick" });
    const [second] = await changes(["--from", first.position], 1);
    expect(second).toMatchObject({ event: "stored", text: "tick" });
    expect(second.id).not.toBe(first.id);
  });

  it("ends with a code that says what a script can do", async () => {
    const stranger = { RECALLD_URL: server.url, RECALLD_API_KEY: `rcl_${"x".repeat(43)}` };
    expect((await recalld(["list"], { env: stranger })).code).toBe(3);
    expect((await recalld(["recall", "tea?", "-k", "21"])).code).toBe(2);
    expect((await recalld(["recall"])).code).toBe(2);
    expect((await recalld(["nonsense"])).code).toBe(2);
    expect((await recalld(["list"], { env: { RECALLD_URL: "http://127.0.0.1:9" } })).code).toBe(3);
    const nowhere = { RECALLD_URL: "http://127.0.0.1:9", RECALLD_API_KEY: "rcl_x" };
    const away = await recalld(["list"], { env: nowhere });
    expect(away.code).toBe(6);
    expect(away.err).toContain("cannot be reached");
    const { api_key: key } = JSON.parse(readFileSync(profile, "utf8"));
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const request = { method: "POST", headers, body: '{"text": "One of many", "namespace": "many"}' };
    for (let status = 200; status === 200; ) ({ status } = await fetch(`${server.url}/store`, request));
    expect((await recalld(["store", "One more"])).code).toBe(5);
  }, 120_000);

  it("never overwrites a key: another account gets a name", async () => {
    const before = readFileSync(profile, "utf8");
    for (const url of [
      server.url,
      `${server.url}/`,
      server.url.replace("http://", ""),
      server.url.toUpperCase(),
    ]) {
      const again = await recalld(["signup", "--url", url]);
      expect(again.code).toBe(2);
      expect(again.err).toContain("--profile");
    }
    expect(readFileSync(profile, "utf8")).toBe(before);
    expect((await recalld(["signup", "--profile", "work"])).code).toBe(0);
    const [own, work] = [await recalld(["whoami"]), await recalld(["whoami", "--profile", "work"])];
    expect(own.out).not.toBe(work.out);
    expect((await recalld(["logout", "--profile", "work"])).code).toBe(0);
    expect((await recalld(["whoami", "--profile", "work"])).code).toBe(3);
    const { api_key: key } = JSON.parse(before);
    expect((await recalld(["login", "--profile", "again"], { input: `${key}\n` })).code).toBe(0);
    expect((await recalld(["whoami", "--profile", "again"])).out).toBe(own.out);
  });

  it("keeps the file that was there when an export fails, and follows links", async () => {
    const file = join(folder, "backup.jsonl");
    writeFileSync(file, "the last good backup\n");
    const nowhere = { RECALLD_URL: "http://127.0.0.1:9", RECALLD_API_KEY: "rcl_x" };
    expect((await recalld(["export", "--file", file], { env: nowhere })).code).toBe(6);
    expect(readFileSync(file, "utf8")).toBe("the last good backup\n");
    symlinkSync(file, join(folder, "link"));
    await recalld(["export", "-n", "facts", "--file", join(folder, "link")]);
    expect(readFileSync(file, "utf8")).toContain("recalld-export");
    expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  it.each([
    [["recal", "tea"], "Did you mean recall?"],
    [["recall", "--topk", "3", "x"], "Did you mean --top-k?"],
    [["store", "- buy milk"], "put -- before a text that begins with a dash"],
    [["serve", "--prot", "1"], "(Did you mean --port?); see recalld serve --help"],
    [["keys", "foo"], "recalld keys list --help"],
    [["store", "x", "-m", "id=1234567890123456789"], "1234567890123456789"],
    [["store", "x", "-m", '{"a": -0}'], "-0"],
    [["update", "mem_x", "-m", "a=1e999"], "a is Infinity, which JSON cannot write"],
    [["store", "x", "--on-conflict", "nope"], "refuse, replace or keep"],
    [["store", "x", "--ttl", "1y"], "90s, 1h or 7d"],
    [["recall", "x", "--filter", "[1]"], "--filter must be a JSON object"],
    [["recall", "x", "-k", "21"], "--top-k is 21"],
    [["recall"], "a question, or --like with an id"],
    [["recall", "x", "--around-same", "a"], "--around-same needs --around"],
    [["recall", "x", "--like", "mem_x"], "--like is given beside query"],
    [["update-metadata", "-m", "a=1"], "ID is missing, and so is filter"],
    [["forget"], "ids, --filter or --all"],
    [["namespaces", "delete"], "a name or --prefix"],
    [["namespaces", "delete", "a", "--prefix", "b"], "a name or --prefix"],
    [["namespaces", "delete", "a", "--dry-run"], "--dry-run needs --prefix"],
    [["export", "--prefix", "a"], "--prefix needs --all"],
    [["export", "--all", "-n", "a"], "leave out --namespace"],
    [["export", "--file", "/nonexistent/x"], "cannot be written"],
    [["list", "--url", "ftp://x"], "is no address of a server"],
  ])("%j ends with 2 and one line that says what to do", async (args, says) => {
    const { code, out, err } = await recalld(args);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err.trim().split("\n")).toHaveLength(1);
    expect(err).toContain(says);
  });

  it("stores no text that is not UTF-8, and drops a byte order mark", async () => {
    const file = join(folder, "latin1.txt");
    for (const bytes of [Buffer.from("Café", "latin1"), Buffer.from("\ufeffCafé", "utf16le")]) {
      writeFileSync(file, bytes);
      expect((await recalld(["store", "--file", file])).code).toBe(2);
    }
    await recalld(["signup", "--profile", "texts"]);
    writeFileSync(file, "\ufeffAna likes tea");
    await recalld(["store", "--file", file, "--profile", "texts"]);
    const { memories } = JSON.parse((await recalld(["list", "--json", "--profile", "texts"])).out);
    expect(memories.map(({ text }: { text: string }) => text)).toEqual(["Ana likes tea"]);
  });

  it("reads values as JSON where they are, and merges metadata unless told to replace it", async () => {
    const options = ["-n", "merge", "--profile", "texts"];
    const stored = await recalld([
      "store",
      "Ana",
      "likes",
      "tea",
      "-m",
      "n=3",
      "-m",
      's="3"',
      "--json",
      ...options,
    ]);
    const { id } = JSON.parse(stored.out);
    const now = async () => JSON.parse((await recalld(["get", id, "--json", ...options])).out);
    expect(await now()).toMatchObject({ text: "Ana likes tea", metadata: { n: 3, s: "3" } });
    expect((await recalld(["update", id, "-m", "n=4", ...options])).out).toContain("merged");
    expect((await now()).metadata).toEqual({ n: 4, s: "3" });
    await recalld(["update", id, "-m", "z=1", "--replace-metadata", ...options]);
    expect((await now()).metadata).toEqual({ z: 1 });
    expect((await recalld(["count", "--filter", '{"z": 1}', ...options])).out).toBe("1 memory in merge\n");
    const counted = await recalld(["count", "--json", ...options]);
    expect(JSON.parse(counted.out)).toEqual({ memories: 1, namespace: "merge" });
    const dry = (z: number) =>
      recalld(["update-metadata", "--filter", `{"z": ${z}}`, "-m", "y=1", "--dry-run", ...options]);
    expect((await dry(1)).out).toMatch(
      /^1 memory matches; as it would be:\nid +metadata\nmem_\w+ +\{.*\}\n$/,
    );
    expect((await dry(2)).out).toBe("0 memories match\n");
    expect((await recalld(["forget", "--filter", '{"z": 1}', ...options])).out).toBe("1 erased\n");
  });

  it("shows a plan without a limit, and a memory's control characters to no terminal", async () => {
    await server.stop();
    const plans = join(folder, "plans.json");
    writeFileSync(plans, '{"free": {"calls": null}}');
    server = await startServer({ env: { PLANS_FILE: plans } });
    await recalld(["signup"]);
    expect((await recalld(["account"])).out).toContain("0 of any number");
    const text = "\u001b[31mred\u001b[0m \u202eder\u202c";
    const { id } = JSON.parse((await recalld(["store", text, "--json"])).out);
    for (const command of [["list"], ["get", id]]) {
      const { out } = await recalld(command);
      for (const control of ["\u001b", "\u202e", "\u202c"]) expect(out).not.toContain(control);
      expect(out).toContain("[31mred");
    }
  });

  it("completes commands in each shell", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, out } = await recalld(["completion", shell]);
      expect(code).toBe(0);
      expect(out).toContain("recalld");
    }
    const asked = await recalld(["complete", "--", "namespaces", "d"]);
    expect(asked.out).toContain("delete\t");
    expect((await recalld(["complete", "--", "recall", "--min"])).out).toContain("--min-fit");
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
