import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { OnePortServer } from "../../src/server/listen/one-port.js";
import {
  ask1,
  ask2,
  closed,
  counts,
  dial,
  keepAlive,
  PREFACE,
  raw,
  running,
  SETTINGS,
  serve,
  slow,
  until,
} from "../support/one-port.js";

describe("closing one port", () => {
  it("lets running calls of both protocols end, and no connection outlives them", async () => {
    const port = await serve();
    const session = dial(port);
    const answers = [ask1(port, "/slow", keepAlive()), ask2(session, "/slow")];
    await until(() => slow.length === 2);
    let done = false;
    const end = closed(running as OnePortServer).then(() => {
      done = true;
    });
    await sleep(150);
    expect(done).toBe(false);
    for (const go of slow) go();
    expect(await Promise.all(answers)).toEqual(["GET /slow over 1.1", "GET /slow over 2.0"]);
    await end;
    expect(session.closed).toBe(true);
  });

  it("ends connections that are idle, silent or inside a preface", async () => {
    const port = await serve();
    await ask1(port, "/a", keepAlive());
    await ask2(dial(port), "/b");
    for (const bytes of ["", "PR", "PRI * HTTP/2", PREFACE]) raw(port).write(bytes);
    await sleep(50);
    const begin = performance.now();
    await closed(running as OnePortServer);
    expect(performance.now() - begin).toBeLessThan(3000);
  });

  it.each([
    ["close gives up on", 3000, () => {}],
    ["closeAllConnections ends", 500, () => running?.closeAllConnections()],
  ])("%s an HTTP/2 client that does not end its side", async (_, withinMs, then) => {
    const socket = raw(await serve());
    socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS]));
    await once(socket, "data");
    const end = closed(running as OnePortServer);
    await once(socket, "end");
    const begin = performance.now();
    then();
    await end;
    expect(performance.now() - begin).toBeLessThan(withinMs);
  });

  it("asks a session to end that begins after it", async () => {
    const socket = raw(await serve());
    await until(() => counts.connections.used === 1);
    const end = closed(running as OnePortServer);
    // This HEADERS frame has GET http://x/slow in HPACK's literals.
    const headers = Buffer.from("82860101780405" + "2f736c6f77", "hex");
    const frame = Buffer.from([0, 0, headers.length, 1, 0x5, 0, 0, 0, 1]);
    socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS, frame, headers]));
    await until(() => slow.length === 1);
    await sleep(150);
    for (const go of slow) go();
    const begin = performance.now();
    await end;
    expect(performance.now() - begin).toBeLessThan(3000);
  });

  it("takes no new connections and no new calls", async () => {
    const port = await serve();
    const session = dial(port);
    const answered = ask2(session, "/slow");
    await until(() => slow.length === 1);
    const end = closed(running as OnePortServer);
    await once(session, "goaway");
    // Some versions of Node refuse at once, some when the session has ended.
    const late = (async () => ask2(session, "/late"))().catch(() => "refused");
    await expect(ask1(port, "/late")).rejects.toThrow("ECONNREFUSED");
    for (const go of slow) go();
    expect(await answered).toBe("GET /slow over 2.0");
    expect(await late).toBe("refused");
    await end;
  });

  it("closeAllConnections ends stuck calls of both protocols", async () => {
    const port = await serve();
    const answers = [ask1(port, "/slow"), ask2(dial(port), "/slow")].map((call) => call.catch(() => "cut"));
    await until(() => slow.length === 2);
    const end = closed(running as OnePortServer);
    running?.closeAllConnections();
    await end;
    expect((await Promise.all(answers))[0]).toBe("cut");
  });
});
