import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { connect } from "node:http2";
import { expect, it, onTestFinished, vi } from "vitest";
import { FILES_MAX } from "../../src/server/portal/portal.js";
import { startServer } from "../support/server.js";

// A whole server starts here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

/** Asks for a page on a connection whose window is closed, so that it is not read to its end. */
function askWithoutReading(url: string): () => Promise<number | undefined> {
  const session = connect(url, { settings: { initialWindowSize: 0 } });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return async () => {
    if (session.destroyed || session.closed) return undefined;
    const stream = session.request({ ":path": "/docs/api" });
    const closed = once(stream, "close").catch(() => []);
    const [answer] = await Promise.race([once(stream, "response").catch(() => []), closed]);
    return (answer as { ":status": number } | undefined)?.[":status"];
  };
}

it("files that nobody reads are opened up to a bound, and further ones refused", async () => {
  const server = await startServer();
  onTestFinished(() => server.kill());
  const files = () =>
    readdirSync(`/proc/${server.pid}/fd`).filter((fd) => {
      try {
        return readlinkSync(`/proc/${server.pid}/fd/${fd}`).includes("/dist/web/");
      } catch {
        return false; // it was closed meanwhile
      }
    }).length;
  const statuses: (number | undefined)[] = [];
  for (let connection = 0; connection < 4; connection++) {
    const ask = askWithoutReading(server.url);
    statuses.push(...(await Promise.all(Array.from({ length: 50 }, ask))));
  }
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(FILES_MAX / 3 + 1);
  expect(statuses).toContain(503);
  expect(files()).toBeLessThanOrEqual(FILES_MAX / 3 + 1);
});
