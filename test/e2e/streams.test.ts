import { createHash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { sharedServer, type TestServer } from "../support/server.js";
import {
  changesIn,
  OpenWatch,
  StreamError,
  type StreamProtocol,
  streamProtocolsOf,
  type Told,
} from "../support/streams.js";

// A whole server starts here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const PROTOCOLS = streamProtocolsOf("http://127.0.0.1:1").map(({ name }) => name);

let server: TestServer;
let protocols: StreamProtocol[];
let ana: Caller;

beforeAll(async () => {
  server = await sharedServer();
  protocols = streamProtocolsOf(server.url);
  ana = await signUp(server.url);
});

/** Takes the position of the present, and leaves the watch. */
async function positionNow(told: AsyncIterable<Told>): Promise<string> {
  for await (const { position } of told) return position;
  throw new Error("the watch ended");
}

async function failureOf(stream: AsyncIterable<unknown>): Promise<StreamError> {
  try {
    for await (const _ of stream);
  } catch (error) {
    expect(error).toBeInstanceOf(StreamError);
    return error as StreamError;
  }
  throw new Error("it did not fail");
}

const idOf = async (storing: ReturnType<Caller["store"]>) => String((await storing).body.id);

describe.each(PROTOCOLS)("through %s", (name) => {
  const protocol = () => protocols.find((each) => each.name === name) as StreamProtocol;
  const key = () => ana.key;

  it("a watch tells what is stored, deleted and dropped, and goes on with the next namespace", async () => {
    const namespace = `watched by ${name}`;
    const watch = new OpenWatch(protocol().watch({ namespace, key: key() }));
    expect(await watch.next()).toEqual({ kind: "heartbeat", position: expect.any(String), data: {} });
    const before = await ana.used();
    const metadata = { n: 1.5, deep: { list: [1, "a", null] } };
    const one = await idOf(ana.store({ namespace, text: "The cat sleeps. 😀", metadata }));
    const two = await idOf(ana.store({ namespace, text: "The dog barks." }));
    const told = await watch.changes(2);
    await ana.forget(namespace, one);
    told.push(...(await watch.changes(1)));
    await ana.drop(namespace);
    told.push(...(await watch.changes(1)));
    const three = await idOf(ana.store({ namespace, text: "The bird sings." }));
    told.push(...(await watch.changes(1)));
    await watch.leave();
    expect(told.map(({ kind, data }) => [kind, data.id])).toEqual([
      ["stored", one],
      ["stored", two],
      ["deleted", one],
      ["dropped", undefined],
      ["stored", three],
    ]);
    expect(told[0]?.data).toEqual({
      id: one,
      text: "The cat sleeps. 😀",
      metadata,
      tokens: expect.any(Number),
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      etag: expect.stringMatching(/^".{16}"$/),
    });
    expect(new Set(told.map(({ position }) => position)).size).toBe(5);
    expect(await ana.used()).toBe(before + 3);
  });

  it("a watch begins after the position that it is given", async () => {
    const namespace = `resumed by ${name}`;
    const begin = await positionNow(protocol().watch({ namespace, key: key() }));
    const ids: string[] = [];
    for (const text of ["one", "two", "three", "four"]) ids.push(await idOf(ana.store({ namespace, text })));
    const all = await changesIn(protocol().watch({ namespace, key: key(), position: begin }), 4);
    expect(all.map(({ data }) => data.id)).toEqual(ids);
    const position = all[1]?.position as string;
    const rest = await changesIn(protocol().watch({ namespace, key: key(), position }), 2);
    expect(rest).toEqual(all.slice(2));
  });

  it("a watch refuses positions that are not the namespace's", async () => {
    const watching = (namespace: string, position: string) =>
      protocol().watch({ namespace, key: key(), position });
    const namespace = `refused by ${name}`;
    await ana.store({ namespace, text: "something" });
    await ana.store({ namespace: `${namespace}, too`, text: "something" });
    const now = await positionNow(watching(namespace, ""));
    for (const position of ["nonsense", `${now}a`, Buffer.from("[1,2]").toString("base64url")]) {
      expect(await failureOf(watching(namespace, position))).toMatchObject({
        code: "invalid_argument",
        message: expect.stringMatching(/^position/),
      });
    }
    const foreign = await failureOf(watching(`${namespace}, too`, now));
    expect(foreign).toMatchObject({ code: "failed_precondition", message: expect.stringMatching(/another/) });
    await ana.drop(namespace);
    await ana.store({ namespace, text: "anew" });
    const dropped = await failureOf(watching(namespace, now));
    expect(dropped.message).toMatch(/dropped/);
    if (name === "plain paths") expect(dropped.status).toBe(400);
  });

  it.each(["", "x".repeat(257)])("streams refuse the namespace %j", async (namespace) => {
    if (namespace === "" && name === "plain paths") return;
    for (const stream of [
      protocol().watch({ namespace, key: key() }),
      protocol().exportMemories({ namespace, key: key() }),
    ]) {
      const { code, message } = await failureOf(stream);
      expect({ code, message }).toEqual({
        code: "invalid_argument",
        message: expect.stringMatching(/^namespace/),
      });
    }
  });

  it("a watch ends after the time that its client allows it", async () => {
    const header = { "connect-timeout-ms": "100" };
    for await (const { kind } of protocol().watch({ namespace: "timed", key: key(), header }))
      expect(kind).toBe("heartbeat");
  });

  it("streams refuse strangers", async () => {
    const failure = await failureOf(protocol().watch({ namespace: "n", key: "sk-1" }));
    expect(failure.code).toBe("unauthenticated");
    if (name === "plain paths") expect(failure.status).toBe(401);
    expect((await failureOf(protocol().exportMemories({ namespace: "n", key: "sk-1" }))).code).toBe(
      "unauthenticated",
    );
  });

  it("an export has every memory, letter by letter, and a checksum", async () => {
    const namespace = `exported by ${name}`;
    const texts = ["The cat sleeps. 😀", 'a "quoted"\n\\ line\u2028', "x".repeat(65_536)];
    const metadata = { n: 1.5, deep: { list: [1, "a", null] } };
    const ids: string[] = [];
    for (const text of texts) ids.push(await idOf(ana.store({ namespace, text, metadata })));
    await ana.forget(namespace, await idOf(ana.store({ namespace, text: "soon gone" })));
    const before = await ana.used();
    const lines: string[] = [];
    for await (const line of protocol().exportMemories({ namespace, key: key() })) lines.push(line);
    expect(await ana.used()).toBe(before);
    const [head, ...rest] = lines.map((line) => JSON.parse(line));
    const { count, sha256 } = rest.pop();
    expect(head).toEqual({
      format: "recalld-export",
      version: 1,
      model: expect.any(String),
      model_revision: expect.stringMatching(/^[\da-f]{64}$/),
      namespace,
      position: expect.any(String),
      exported_at: expect.stringMatching(/Z$/),
    });
    expect(rest).toEqual(
      texts.map((text, i) => ({
        id: ids[i],
        text,
        metadata,
        tokens: expect.any(Number),
        created_at: expect.stringMatching(/Z$/),
      })),
    );
    expect(count).toBe(3);
    const hashed = lines.slice(0, -1).map((line) => `${line}\n`);
    expect(createHash("sha256").update(hashed.join("")).digest("hex")).toBe(sha256);
    // A watch goes on where the export ends.
    const next = await idOf(ana.store({ namespace, text: "stored since" }));
    const told = await changesIn(protocol().watch({ namespace, key: key(), position: head.position }), 1);
    expect(told[0]?.data.id).toBe(next);
  });

  it("an export with a filter has what matches, as lists show it", async () => {
    const namespace = `filtered by ${name}`;
    const store = (text: string, metadata: JsonObject) => ana.store({ namespace, text, metadata });
    await store("one", { source: "mail" });
    await store("two", { source: "chat" });
    await store("three", { source: "mail" });
    const read = async (filter: JsonObject) => {
      const lines: string[] = [];
      for await (const line of protocol().exportMemories({ namespace, key: key(), filter })) lines.push(line);
      return lines.slice(1).map((line) => JSON.parse(line));
    };
    const found = await read({ source: "mail" });
    expect(found.slice(0, -1).map(({ text }) => text)).toEqual(["one", "three"]);
    expect(found.at(-1).count).toBe(2);
    expect((await read({})).at(-1).count).toBe(3);
    const failure = await failureOf(protocol().exportMemories({ namespace, key: key(), filter: { $no: 1 } }));
    expect(failure.code).toBe("invalid_argument");
    expect(failure.message).toContain("filter.$no");
  });

  it("an export has vectors on request", async () => {
    const namespace = `vectors by ${name}`;
    await ana.store({ namespace, text: "short" });
    await ana.store({ namespace, text: "A long text about nothing at all, told again. ".repeat(80) });
    const lines: string[] = [];
    const asked = { namespace, key: key(), includeVectors: true };
    for await (const line of protocol().exportMemories(asked)) lines.push(line);
    const [short, long] = lines.slice(1, 3).map((line) => JSON.parse(line));
    const lengthOf = (base64: string) => {
      const bytes = new Uint8Array(Buffer.from(base64, "base64"));
      const vector = new Float32Array(bytes.buffer);
      return Math.hypot(...vector);
    };
    expect(short.windows).toBeUndefined();
    expect(short.vectors.map(lengthOf)).toEqual([expect.closeTo(1, 3)]);
    expect(long.windows.length).toBeGreaterThan(1);
    expect(long.vectors.length).toBe(long.windows.length);
    for (const vector of long.vectors) expect(lengthOf(vector)).toBeCloseTo(1, 3);
  });

  it("an export of nothing is complete, too", async () => {
    const lines: string[] = [];
    for await (const line of protocol().exportMemories({ namespace: "nobody's", key: key() }))
      lines.push(line);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ namespace: "nobody's", model: null }),
      { count: 0, sha256: expect.stringMatching(/^[\da-f]{64}$/) },
    ]);
  });
});
