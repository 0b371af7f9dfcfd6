import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { flushLog, openLog } from "../../src/server/logging.js";

/** Makes a reader that takes nothing until it is told to. */
function reader() {
  const taken: string[] = [];
  let waiting: (() => void) | undefined;
  let reads = false;
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      const take = () => {
        taken.push(String(chunk));
        done();
      };
      if (reads) take();
      else waiting = take;
    },
  });
  const read = () => {
    reads = true;
    waiting?.();
  };
  return { stream, taken, read };
}

it("keeps about a megabyte for a reader that has stopped, drops what is more, and says so when it reads on", async () => {
  const { stream, taken, read } = reader();
  const { logger, dropped } = openLog("info", stream);
  for (let i = 0; i < 30_000; i++) logger.info({ i }, "x".repeat(100));
  expect(stream.writableLength).toBeLessThanOrEqual(1_048_576);
  expect(dropped()).toBeGreaterThan(20_000);
  read();
  await flushLog(stream);
  const lines = taken.join("").trim().split("\n");
  expect(lines.length).toBe(30_000 - dropped() + 1);
  const last = JSON.parse(lines.at(-1) as string);
  expect(last).toMatchObject({ level: 40, msg: "lines of the log were dropped", lines: dropped() });
});

it("waits at the end for a reader that is behind, but not for long for one that has stopped", async () => {
  const { stream, taken, read } = reader();
  const { logger } = openLog("info", stream);
  for (const msg of ["one", "two"]) logger.info(msg);
  const beginMs = performance.now();
  await flushLog(stream);
  expect(performance.now() - beginMs).toBeLessThan(3_000);
  expect(taken).toEqual([]);
  setTimeout(read, 50);
  await flushLog(stream);
  expect(taken.join("")).toMatch(/one.*\n.*two/);
});

it("goes on when nobody can take a line, and counts it", async () => {
  const stream = new Writable({
    autoDestroy: false,
    write: (_chunk, _encoding, done) => done(Object.assign(new Error("gone"), { code: "EPIPE" })),
  });
  const { logger, dropped } = openLog("info", stream);
  logger.info("one");
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(dropped()).toBe(1);
});
