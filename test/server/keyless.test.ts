import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { KEYLESS_RATE, KeylessRequests } from "../../src/server/listen/keyless.js";

/** Asks more often than an address may without a key, and returns what the last answer is sent with. */
function refused(request: { method: string; headers: Record<string, string> }) {
  const keyless = new KeylessRequests();
  const sent: { status?: number; headers?: Record<string, string>; trailers?: object; body?: string } = {};
  const response = {
    writeHead: (status: number, headers: Record<string, string>) =>
      Object.assign(sent, { status, headers }) && response,
    addTrailers: (trailers: object) => Object.assign(sent, { trailers }),
    end: (body?: string) => Object.assign(sent, { body }),
  };
  const asked = { url: "/grpc.health.v1.Health/Check", clientAddress: "192.0.2.1", socket: {}, ...request };
  // Stand-ins: a refusal looks at no more of a request and of a response.
  for (let i = 0; i <= KEYLESS_RATE.burst * 1.1; i += 1)
    keyless.refuses(asked as unknown as IncomingMessage, response as unknown as ServerResponse);
  return sent;
}

it("refuses calls of gRPC by its status, without a body that a client would read as messages", () => {
  const sent = refused({ method: "POST", headers: { "content-type": "application/grpc" } });
  expect(sent).toMatchObject({
    status: 200,
    headers: { "content-type": "application/grpc" },
    body: undefined,
  });
  expect(sent.trailers).toMatchObject({
    "grpc-status": "8",
    "retry-after": "1",
    "grpc-status-details-bin": expect.any(String),
  });
});

it("refuses all others by HTTP", () => {
  const sent = refused({ method: "POST", headers: { "content-type": "application/json" } });
  expect(sent).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
  expect(JSON.parse(sent.body ?? "")).toMatchObject({ code: "resource_exhausted", reason: "RATE_LIMITED" });
});
