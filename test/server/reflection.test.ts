import { execFile } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { create, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import {
  Code,
  type ConnectRouter,
  createClient,
  createRouterTransport,
  type Interceptor,
} from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { describe, expect, it, onTestFinished } from "vitest";
import * as v1 from "../../gen/grpc/reflection/v1/reflection_pb.js";
import * as v1alpha from "../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import { Call, CallMemory, MEMORY_BYTES_MAX } from "../../src/server/call.js";
import { OnePortServer } from "../../src/server/listen/one-port.js";
import { callKey } from "../../src/server/rpc/mount.js";
import { registerReflection } from "../../src/server/rpc/reflection.js";

const run = promisify(execFile);
const BUF = fileURLToPath(new URL("../../node_modules/@bufbuild/buf/bin/buf", import.meta.url));

const NAMES = [MemoryService.typeName, AccountService.typeName];
const MEMORY_FILE = "recalld/v1/memory.proto";

const routes = (router: ConnectRouter) => registerReflection(router, [MemoryService, AccountService]);
const transport = createRouterTransport(routes);
const current = createClient(v1.ServerReflection, transport);
const older = createClient(v1alpha.ServerReflection, transport);

type Asked = v1.ServerReflectionRequest["messageRequest"];

async function ask(...questions: Asked[]) {
  async function* requests() {
    for (const messageRequest of questions) yield { host: "here", messageRequest };
  }
  const answers = [];
  for await (const answer of current.serverReflectionInfo(requests())) answers.push(answer);
  return answers;
}

/** Returns the names of the files in an answer, or its error code. */
async function filesFor(question: Asked): Promise<string[] | number | undefined> {
  const [answer] = await ask(question);
  const response = answer?.messageResponse;
  if (response?.case === "errorResponse") return response.value.errorCode;
  if (response?.case !== "fileDescriptorResponse") return undefined;
  return response.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name);
}

const symbol = (value: string) => filesFor({ case: "fileContainingSymbol", value });

describe("reflection", () => {
  it("lists the services it was given, and no others", async () => {
    const [answer] = await ask({ case: "listServices", value: "" });
    expect(answer?.messageResponse.value).toMatchObject({ service: NAMES.map((name) => ({ name })) });
  });

  it("speaks the older version as well", async () => {
    async function* requests() {
      yield { messageRequest: { case: "listServices" as const, value: "" } };
    }
    for await (const { messageResponse } of older.serverReflectionInfo(requests()))
      expect(messageResponse.value).toMatchObject({ service: NAMES.map((name) => ({ name })) });
  });

  it("answers each question of a conversation, in order, and repeats it", async () => {
    const values = [MEMORY_FILE, "nobody.proto", "google/protobuf/timestamp.proto"];
    const answers = await ask(...values.map((value) => ({ case: "fileByFilename" as const, value })));
    expect(answers.map(({ originalRequest }) => originalRequest?.messageRequest.value)).toEqual(values);
    expect(answers.map(({ validHost }) => validHost)).toEqual(["here", "here", "here"]);
    expect(answers.map(({ messageResponse }) => messageResponse.case)).toEqual([
      "fileDescriptorResponse",
      "errorResponse",
      "fileDescriptorResponse",
    ]);
  });

  it("sends a file with all that it imports, each once", async () => {
    const files = (await filesFor({ case: "fileByFilename", value: MEMORY_FILE })) as string[];
    expect(files[0]).toBe(MEMORY_FILE);
    expect(files).toContain("google/protobuf/descriptor.proto");
    expect(new Set(files).size).toBe(files.length);
  });

  it.each([
    "recalld.v1.MemoryService",
    "recalld.v1.MemoryService.Store",
    "recalld.v1.StoreRequest",
    "recalld.v1.StoreRequest.text",
  ])("finds the file of %s", async (name) => {
    expect(await symbol(name)).toContain(MEMORY_FILE);
  });

  it.each([
    ["google.protobuf.FieldDescriptorProto.Type", "an enum in a message"],
    ["google.protobuf.FieldDescriptorProto.TYPE_STRING", "its value, which stands beside it"],
    ["google.protobuf.NULL_VALUE", "a value of an enum in a package"],
    ["buf.validate.field", "an extension"],
    ["google.rpc.BadRequest", "a detail of errors"],
  ])("finds the file of %s, %s", async (name) => {
    expect(await symbol(name)).toBeInstanceOf(Array);
  });

  it.each([
    "",
    "recalld.v1",
    "recalld.v1.Nothing",
    "recalld.v1.MemoryService.Nothing",
    "grpc.reflection.v1.ServerReflection",
    "__proto__",
  ])("answers not found for %j", async (name) => {
    expect(await symbol(name)).toBe(Code.NotFound);
  });

  it("knows the extensions of a type", async () => {
    const containingType = "google.protobuf.FieldOptions";
    const [answer] = await ask({ case: "allExtensionNumbersOfType", value: containingType });
    expect(answer?.messageResponse.value).toMatchObject({ extensionNumber: [1159] });
    const files = (extensionNumber: number) => {
      const value = create(v1.ExtensionRequestSchema, { containingType, extensionNumber });
      return filesFor({ case: "fileContainingExtension", value });
    };
    expect(await files(1159)).toContain("buf/validate/validate.proto");
    expect(await files(1)).toBe(Code.NotFound);
    expect(await filesFor({ case: "allExtensionNumbersOfType", value: "no.Type" })).toBe(Code.NotFound);
  });

  it("answers a question of nothing with invalid argument", async () => {
    expect(await filesFor({ case: undefined })).toBe(Code.InvalidArgument);
  });

  it("holds the bytes of an answer until its client takes it, and has none where too many are held", async () => {
    const memory = new CallMemory();
    const request = { headers: {} } as IncomingMessage;
    const call = new Call({ method: "m", protocol: "grpc", request, setHeader: () => {} }, memory);
    const held: number[] = [];
    async function* requests() {
      for (let i = 0; i < 3; i++) {
        held.push(memory.large.used);
        if (i === 2) memory.large.add("other", MEMORY_BYTES_MAX);
        yield { messageRequest: { case: "fileByFilename" as const, value: MEMORY_FILE } };
      }
    }
    const withCall: Interceptor = (next) => (asked) => {
      asked.contextValues.set(callKey, call);
      return next(asked);
    };
    const transport = createRouterTransport(routes, { router: { interceptors: [withCall] } });
    const { serverReflectionInfo } = createClient(v1.ServerReflection, transport);
    const all = async () => {
      for await (const _ of serverReflectionInfo(requests())) held.push(memory.large.used);
    };
    await expect(all()).rejects.toMatchObject({ code: Code.Unavailable });
    expect(Math.max(...held)).toBeGreaterThan(60_000);
    expect(Math.max(...held)).toBeLessThan(120_000);
    call.release();
    expect(memory.large.heldBy(call.owner)).toBe(0);
  });

  it("serves buf curl, without any schema of its own", async () => {
    const server = new OnePortServer(connectNodeAdapter({ routes }));
    onTestFinished(() => void server.close());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { stdout } = await run(BUF, ["curl", "--http2-prior-knowledge", "--list-methods", url]);
    const methods = [MemoryService, AccountService].flatMap((service) =>
      service.methods.map(({ name }) => `${service.typeName}/${name}`),
    );
    expect(stdout.trim().split("\n").sort()).toEqual(methods.sort());
  });
});
