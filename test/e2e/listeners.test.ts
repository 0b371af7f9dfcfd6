import { Agent, request } from "node:http";
import { connect } from "node:http2";
import { text } from "node:stream/consumers";
import { expect, it, vi } from "vitest";
import { signUp } from "../support/caller.js";
import { startServer } from "../support/server.js";

// A whole server starts here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

const CALLS = 200;

it("many calls on one connection leave no warning of too many listeners", async () => {
  const server = await startServer();
  const { key } = await signUp(server.url);
  const headers = { authorization: `Bearer ${key}` };
  const session = connect(server.url);
  session.setMaxListeners(0);
  const each = Array.from({ length: CALLS }, (_, i) => i);
  const streams = each.map(() => text(session.request({ ":path": "/account", ...headers })));
  for (const answer of await Promise.all(streams)) expect(answer).toContain("acc_");
  session.close();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const asked = each.map(
    () =>
      new Promise<string>((resolve, reject) => {
        const call = request(`${server.url}/account`, { agent, headers }, (answer) => resolve(text(answer)));
        call.on("error", reject).end();
      }),
  );
  for (const answer of await Promise.all(asked)) expect(answer).toContain("acc_");
  agent.destroy();
  await server.stop();
  expect(server.output()).not.toMatch(/MaxListenersExceededWarning|Warning: Possible/);
});
