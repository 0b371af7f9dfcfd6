import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { createOnePortServer } from "../../src/server/port/one-port.js";

function busyFor(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

it("a request whose client has gone while it waited to begin is not served", async () => {
  const served: string[] = [];
  const clients: Socket[] = [];
  const server = createOnePortServer((request, response) => {
    served.push(request.url ?? "");
    if (request.url === "/first") clients[2]?.resetAndDestroy();
    // This is longer than one iteration of the event loop begins calls, so the next call waits for the next one.
    busyFor(20);
    response.end("ok");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  for (const path of ["/warm", "/warm", "/warm"]) {
    const client = connect(port, "127.0.0.1");
    client.on("error", () => {});
    clients.push(client);
    client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await once(client, "data");
  }
  served.length = 0;
  // The client's own writes reach the server's sockets together.
  for (const [i, path] of ["/first", "/second", "/third"].entries()) {
    clients[i]?.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  }
  await sleep(200);
  expect(served).toEqual(["/first", "/second"]);
  for (const client of clients) client.destroy();
  server.close();
  await once(server, "close");
});

it("a request that was sent before the server closed is answered, though its connection waited to be opened", async () => {
  const server = createOnePortServer((_request, response) => {
    busyFor(20);
    response.setHeader("connection", "close");
    response.end("ok");
    if (server.listening) server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const clients = Array.from({ length: 8 }, () => connect(port, "127.0.0.1"));
  await Promise.all(clients.map((client) => once(client, "connect")));
  await sleep(50);
  const answers = clients.map(async (client) => {
    client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const [answer] = await once(client, "data");
    client.destroy();
    return String(answer).slice(0, 15);
  });
  expect(await Promise.all(answers)).toEqual(clients.map(() => "HTTP/1.1 200 OK"));
});
