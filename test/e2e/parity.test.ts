import { type ClientHttp2Session, connect } from "node:http2";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import type { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import { signUp } from "../support/caller.js";
import { chanceOf } from "../support/chance.js";
import { randomRequest } from "../support/random-requests.js";
import { sharedServer } from "../support/server.js";

const ROUNDS = Number(process.env.PARITY_ROUNDS ?? 300);
const SEED = Number(process.env.PARITY_SEED ?? 11);
/** Bytes of a body that a query has room for. */
const QUERY_BYTES_MAX = 4_000;

interface Ended {
  readonly code: string;
  readonly message: string;
  readonly body: unknown;
}

let url: string;
let http2: ClientHttp2Session;
beforeAll(async () => {
  ({ url } = await sharedServer());
  http2 = connect(url);
});
afterAll(() => http2?.close());

const METHODS = [...MemoryService.methods, ...AccountService.methods].filter(
  ({ name, methodKind }) => methodKind === "unary" && !["SignUp", "CloseAccount", "RevokeKey"].includes(name),
);
const PATHS: Readonly<Record<string, string>> = {
  Store: "/store",
  StoreBatch: "/store/batch",
  Recall: "/recall",
  DeleteNamespaces: "/namespaces/delete",
  CreateKey: "/keys",
};
const TOOLS: Readonly<Record<string, string>> = {
  Store: "memory_store",
  Recall: "memory_recall",
  UpdateMemory: "memory_update",
  UpdateMemories: "memory_update_many",
  DeleteMemories: "memory_forget",
  ListMemories: "memory_list",
};

async function byHttp(path: string, key: string, body?: string): Promise<Ended> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  const sent = body === undefined ? {} : { method: "POST", body };
  const response = await fetch(url + path, { headers, ...sent });
  const answer = (await response.json()) as Record<string, unknown>;
  if (response.status !== 200) return failed(String(answer.code), String(answer.message));
  return { code: "ok", message: "", body: comparable(answer) };
}

/** Calls by gRPC, with JSON as its messages. */
async function byGrpc(path: string, key: string, body: string): Promise<Ended> {
  const message = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  const stream = http2.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc+json",
    te: "trailers",
    authorization: `Bearer ${key}`,
  });
  const ended: Record<string, unknown> = {};
  const chunks: Buffer[] = [];
  stream.on("response", (headers) => void Object.assign(ended, headers));
  stream.on("trailers", (headers) => void Object.assign(ended, headers));
  stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
  stream.end(Buffer.concat([head, message]));
  await new Promise((resolve, reject) => stream.on("close", resolve).on("error", reject));
  const status = Number(ended["grpc-status"]);
  if (status !== 0)
    return failed(codeToString(status as Code), decodeURIComponent(String(ended["grpc-message"])));
  const answer = JSON.parse(Buffer.concat(chunks).subarray(head.length).toString());
  return { code: "ok", message: "", body: comparable(answer) };
}

/** Calls a tool, whose refusals are the RPC's. */
async function byTool(name: string, key: string, args: string): Promise<Ended> {
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`,
  });
  const { result } = (await response.json()) as {
    result: { isError?: boolean; content: [{ text: string }] };
  };
  const [{ text }] = result.content;
  if (result.isError !== true) return { code: "ok", message: "", body: undefined };
  const [, message = "", code = ""] = /^(.*) \((\w+)(?:, \w+)?\)\. /s.exec(text) ?? [];
  return failed(code, message);
}

function failed(code: string, message: string): Ended {
  return { code, message: message.replace(/mem_\w+/g, "mem_"), body: undefined };
}

/** An answer without what no two calls share, and what each protocol counts for itself. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === "string") return value.replace(/mem_\w+/g, "mem_");
  if (typeof value !== "object" || value === null) return value;
  const own =
    /^(.*_?id|etag|created_at|updated_at|expire.*|api_key|prefix|since|.*_token|first|last|last_used_at|calls)$/;
  const shared = Object.entries(value).filter(([name]) => !own.test(name));
  return Object.fromEntries(shared.map(([name, each]) => [name, comparable(each)]));
}

it("a body, as it should be or not, ends alike by REST, Connect, its GET, and gRPC", async () => {
  const chance = chanceOf(SEED);
  // Each has an account of its own, so that all find the same.
  const keys = await Promise.all(Array.from({ length: 4 }, async () => (await signUp(url)).key));
  const [connectKey, grpcKey, restKey, getKey] = keys as [string, string, string, string];
  const codes = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const method = chance.pick(METHODS);
    const path = `/${method.parent.typeName}/${method.name}`;
    const body = randomRequest(chance, method.input);
    const expected = await byHttp(path, connectKey, body);
    const isRead = method.idempotency === Idempotency.NO_SIDE_EFFECTS;
    const query = `${path}?encoding=json&message=${encodeURIComponent(body)}`;
    // What has no such path changes this account as the others.
    const rest = byHttp(PATHS[method.name] ?? path, restKey, body);
    const get =
      isRead && query.length <= QUERY_BYTES_MAX ? byHttp(query, getKey) : byHttp(path, getKey, body);
    const others = await Promise.all([byGrpc(path, grpcKey, body), rest, get]);
    expect(others, `${method.name} ${body}`).toEqual([expected, expected, expected]);
    codes.add(expected.code);
  }
  expect([...codes]).toEqual(expect.arrayContaining(["ok", "invalid_argument", "not_found"]));
}, 120_000);

it("arguments that an RPC refuses are refused in the same words by the tool that asks it", async () => {
  const chance = chanceOf(SEED + 1);
  const { key } = await signUp(url);
  let refused = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const method = chance.pick(MemoryService.methods.filter(({ name }) => TOOLS[name] !== undefined));
    const body = randomRequest(chance, method.input);
    // Tools fill these in, or read them themselves; of these numbers, they say more.
    if (!/^\{"namespace":"parity[^{]*,"|,"namespace":"parity/.test(body)) continue;
    if (/"[a-z]+[A-Z]\w*":/.test(body)) continue;
    if (/null|-0|1e400|\d{16}|min_fit|on_similar|max_?tokens|nothing|toString|a\.b"|"a":1,"a":2/i.test(body))
      continue;
    const { code, message } = await byHttp(`/${method.parent.typeName}/${method.name}`, key, body);
    if (code !== "invalid_argument") continue;
    refused++;
    const told = await byTool(TOOLS[method.name] as string, key, body);
    // A message of MCP is searched for these before its arguments are read.
    if (told.message.endsWith("is given twice")) continue;
    expect(told, `${method.name} ${body}`).toMatchObject({ code, message });
  }
  expect(refused).toBeGreaterThan(10);
}, 120_000);
