import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient, createContextValues } from "@connectrpc/connect";
import { connectNodeAdapter, createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { credentials, Client as GrpcClient } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as Status,
} from "../../gen/health/v1/health_pb.js";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import type { Call } from "../../src/server/call.js";
import { OnePortServer } from "../../src/server/listen/one-port.js";
import { Readiness } from "../../src/server/listen/readiness.js";
import { HEALTH_WATCHES_MAX, registerHealth } from "../../src/server/rpc/health.js";
import { callKey } from "../../src/server/rpc/mount.js";

const NAMES = ["", MemoryService.typeName, AccountService.typeName];

interface TestServer {
  readonly app: { close(): Promise<unknown> };
  readonly readiness: Readiness;
  readonly port: number;
  readonly health: Client<typeof Health>;
}

async function serve(): Promise<TestServer> {
  const readiness = new Readiness();
  const closing = new AbortController();
  const adapter = connectNodeAdapter({
    contextValues: ({ headers }) =>
      createContextValues().set(callKey, { owner: String(headers["x-test-address"] ?? "127.0.0.1") } as Call),
    routes: (router) =>
      registerHealth(router, {
        readiness,
        services: [MemoryService, AccountService],
        shutdownSignal: closing.signal,
      }),
  });
  const server = new OnePortServer((request, response) => void adapter(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const app = {
    close: async () => {
      closing.abort();
      await once(server.close(), "close");
    },
  };
  return { app, readiness, port, health: clientOf(port) };
}

/** Makes a client with its own connection. */
const clientOf = (port: number) =>
  createClient(Health, createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }));

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "no error",
    (error) => ConnectError.from(error).code,
  );

/** Opens a watch and returns its statuses one by one. */
function watch(health: Client<typeof Health>, service = "", address = "127.0.0.1") {
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const stream = health
    .watch({ service }, { signal: abort.signal, headers: { "x-test-address": address } })
    [Symbol.asyncIterator]();
  return {
    next: async () => {
      const result = await stream.next();
      return result.done ? "ended" : result.value.status;
    },
    cancel: () => abort.abort(),
  };
}

describe("gRPC health", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await serve();
  });
  afterAll(() => server.app.close());

  it.each(NAMES)("says of %j what readiness says", async (service) => {
    const { health, readiness } = server;
    readiness.start();
    readiness.setAway("database", true);
    expect((await health.check({ service })).status).toBe(Status.NOT_SERVING);
    readiness.setAway("database", false);
    expect((await health.check({ service })).status).toBe(Status.SERVING);
  });

  it.each(["nobody", "grpc.health.v1.Health", "__proto__"])("does not know %j", async (service) => {
    expect(await codeOf(server.health.check({ service }))).toBe(Code.NotFound);
  });

  it("lists all it knows", async () => {
    server.readiness.start();
    const { statuses } = await server.health.list({});
    expect(Object.keys(statuses).sort()).toEqual([...NAMES].sort());
    for (const { status } of Object.values(statuses)) expect(status).toBe(Status.SERVING);
  });

  it("answers a client of grpc-js", async () => {
    server.readiness.start();
    const grpc = new GrpcClient(`127.0.0.1:${server.port}`, credentials.createInsecure());
    onTestFinished(() => grpc.close());
    const answer = await new Promise((resolve, reject) => {
      grpc.makeUnaryRequest(
        "/grpc.health.v1.Health/Check",
        (request) => Buffer.from(toBinary(HealthCheckRequestSchema, request)),
        (bytes) => fromBinary(HealthCheckResponseSchema, bytes),
        create(HealthCheckRequestSchema, { service: "recalld.v1.MemoryService" }),
        (error, value) => (error ? reject(error) : resolve(value)),
      );
    });
    expect(answer).toMatchObject({ status: Status.SERVING });
  });
});

describe("a watch of gRPC health", () => {
  it("tells the status at once, then each change", async () => {
    const { app, health, readiness } = await serve();
    const { next } = watch(health, "recalld.v1.MemoryService");
    expect(await next()).toBe(Status.NOT_SERVING);
    readiness.start();
    expect(await next()).toBe(Status.SERVING);
    for (const ready of [false, true]) {
      readiness.setAway("database", !ready);
      expect(await next()).toBe(ready ? Status.SERVING : Status.NOT_SERVING);
    }
    await app.close();
  });

  it("works over HTTP/1 as well", async () => {
    const { app, port, readiness } = await serve();
    const transport = createConnectTransport({ baseUrl: `http://127.0.0.1:${port}`, httpVersion: "1.1" });
    const { next } = watch(createClient(Health, transport));
    expect(await next()).toBe(Status.NOT_SERVING);
    readiness.start();
    expect(await next()).toBe(Status.SERVING);
    await app.close();
  });

  it("of an unknown service says so and stays open", async () => {
    const { app, health, readiness } = await serve();
    const { next } = watch(health, "nobody");
    expect(await next()).toBe(Status.SERVICE_UNKNOWN);
    const second = next();
    readiness.start();
    expect(await Promise.race([second, sleep(50, "open")])).toBe("open");
    await app.close();
    expect(await second).toBe("ended");
  });

  it("tells the last status, then ends when the server closes, and does not hold it open", async () => {
    const { app, health, readiness } = await serve();
    readiness.start();
    const { next } = watch(health);
    expect(await next()).toBe(Status.SERVING);
    readiness.setAway("database", true);
    await app.close();
    expect([await next(), await next()]).toEqual([Status.NOT_SERVING, "ended"]);
  });

  it("is refused when one address has a third of them open, and others' are not", async () => {
    const { app, health } = await serve();
    const watches = Array.from({ length: Math.floor(HEALTH_WATCHES_MAX / 3) }, () => watch(health));
    for (const { next } of watches) expect(await next()).toBe(Status.NOT_SERVING);
    const refused = ConnectError.from(
      await watch(health)
        .next()
        .catch((error) => error),
    );
    expect(refused.code).toBe(Code.ResourceExhausted);
    expect(refused.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: "STREAMS_LIMITED" }]);
    expect(refused.metadata.get("retry-after")).toBe("1");
    expect(await watch(health, "", "10.0.0.1").next()).toBe(Status.NOT_SERVING);
    watches[0]?.cancel();
    await vi.waitFor(async () => expect(await watch(health).next()).toBe(Status.NOT_SERVING));
    await app.close();
  });

  it(`is refused when nearly ${HEALTH_WATCHES_MAX} are open, until one ends`, async () => {
    const { app, port, health } = await serve();
    const warned = vi.fn();
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    const clients = [clientOf(port), clientOf(port), clientOf(port), clientOf(port)];
    const watches = Array.from({ length: HEALTH_WATCHES_MAX - 1 }, (_, i) =>
      watch(clients[i % 4] ?? health, "", `10.0.0.${i}`),
    );
    for (const { next } of watches) expect(await next()).toBe(Status.NOT_SERVING);
    expect(await codeOf(watch(health).next())).toBe(Code.ResourceExhausted);
    watches[0]?.cancel();
    await vi.waitFor(async () => expect(await watch(health).next()).toBe(Status.NOT_SERVING));
    expect(warned).not.toHaveBeenCalled();
    await app.close();
  });
});
