import { createHash, randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it, onTestFinished, vi } from "vitest";
import { downloadFile } from "../../src/embedding/download/download.js";
import { requestFile } from "../../src/embedding/download/hub.js";

const CONTENT = randomBytes(300_000);
const SHA256 = createHash("sha256").update(CONTENT).digest("hex");
const GIT_BLOB = createHash("sha1").update(`blob ${CONTENT.length}\0`).update(CONTENT).digest("hex");

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

async function serve(answer: Answer): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`;
}

async function temporaryPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "download-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "deep", "file");
}

/** Answers as the hub does: with ranges, and with the hash in the answer. */
function send(request: IncomingMessage, response: ServerResponse, tag = SHA256): void {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
  if (from >= CONTENT.length) {
    response.writeHead(416).end();
    return;
  }
  response.writeHead(from > 0 ? 206 : 200, {
    "x-repo-commit": "0123abc",
    "x-linked-etag": `"${tag}"`,
    "content-length": CONTENT.length - from,
    ...(from > 0 && { "content-range": `bytes ${from}-${CONTENT.length - 1}/${CONTENT.length}` }),
  });
  response.end(CONTENT.subarray(from));
}

/** Sends half of the file and cuts the connection. */
function sendHalf(response: ServerResponse): void {
  response.writeHead(200, { "content-length": CONTENT.length });
  response.write(CONTENT.subarray(0, CONTENT.length / 2), () => setTimeout(() => response.destroy(), 50));
}

async function download(url: string, path: string, options = {}) {
  const seen: number[] = [];
  const onProgress = ({ bytes }: { bytes: number }) => seen.push(bytes);
  await downloadFile({ url, path, onProgress, retryPauseMs: 1, ...options });
  return seen;
}

async function remainders(path: string): Promise<string[]> {
  return (await readdir(dirname(path))).filter((name) => name.endsWith(".part"));
}

it("a download goes on where the connection was cut", async () => {
  const ranges: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    ranges.push(request.headers.range);
    if (ranges.length === 1) sendHalf(response);
    else send(request, response);
  });
  const path = await temporaryPath();
  const seen = await download(url, path);
  expect(CONTENT.equals(await readFile(path))).toBe(true);
  expect(await remainders(path)).toEqual([]);
  expect(ranges[0]).toBeUndefined();
  expect(ranges[1]).toMatch(/^bytes=[1-9]\d*-$/);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen.at(-1)).toBe(CONTENT.length);
});

it("a later start goes on with what an earlier one left", async () => {
  const path = await temporaryPath();
  const cut = await serve((_, response) => sendHalf(response));
  await expect(download(cut, path)).rejects.toThrow();
  expect(existsSync(path)).toBe(false);
  expect(await remainders(path)).toHaveLength(1);
  const ranges: (string | undefined)[] = [];
  const whole = await serve((request, response) => {
    ranges.push(request.headers.range);
    send(request, response);
  });
  await download(whole, path);
  expect(ranges).toEqual([expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
  expect(CONTENT.equals(await readFile(path))).toBe(true);
  expect(await remainders(path)).toEqual([]);
});

it("what a download has left that may live on is copied, what it has left for good is taken", async () => {
  const path = await temporaryPath();
  const other = `${path}.0123.part`;
  for (const [agoMs, rests] of [
    [0, true],
    [120_000, false],
  ] as const) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(other, CONTENT.subarray(0, 1000));
    const then = new Date(Date.now() - agoMs);
    await utimes(other, then, then);
    const seen: [string | undefined, boolean][] = [];
    const url = await serve((request, response) => {
      seen.push([request.headers.range, existsSync(other)]);
      send(request, response);
    });
    await download(url, path);
    expect(seen).toEqual([["bytes=1000-", rests]]);
    expect(CONTENT.equals(await readFile(path))).toBe(true);
    await rm(path);
  }
});

it("without a hash nothing is continued: nobody could tell whether the parts belong together", async () => {
  const ranges: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    ranges.push(request.headers.range);
    const from = Number(request.headers.range?.slice(6, -1) ?? 0);
    const headers = { "content-range": `bytes ${from}-${CONTENT.length - 1}/${CONTENT.length}` };
    response.writeHead(from > 0 ? 206 : 200, from > 0 ? headers : {}).end(CONTENT.subarray(from));
  });
  const path = await temporaryPath();
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.part`, randomBytes(1000));
  await download(url, path);
  expect(ranges).toEqual(["bytes=1000-", undefined]);
  expect(CONTENT.equals(await readFile(path))).toBe(true);
});

it("a file that another process has put there meanwhile is not downloaded to its end", async () => {
  const path = await temporaryPath();
  const url = await serve((_, response) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, CONTENT);
    sendHalf(response);
  });
  expect(await downloadFile({ url, path, onProgress: () => {} })).toBeUndefined();
  expect(CONTENT.equals(await readFile(path))).toBe(true);
});

it("two downloads at once leave no hole, where no hash would show it either", async () => {
  const half = CONTENT.length / 2;
  const signals = new EventEmitter();
  const [secondBegan, firstEnded] = [once(signals, "began"), once(signals, "ended")];
  let requests = 0;
  const url = await serve(async (_, response) => {
    const isFirst = ++requests === 1;
    response.writeHead(200, { "content-length": CONTENT.length });
    response.write(CONTENT.subarray(0, isFirst ? half : 1000));
    if (!isFirst) signals.emit("began");
    await (isFirst ? secondBegan : firstEnded);
    // This leaves time to write what was sent.
    await sleep(50);
    response.end(CONTENT.subarray(isFirst ? half : 1000));
  });
  const path = await temporaryPath();
  const first = download(url, path);
  await vi.waitFor(async () => expect(await readdir(dirname(path))).toHaveLength(1));
  const other = download(url, path);
  await first;
  expect(CONTENT.equals(await readFile(path))).toBe(true);
  signals.emit("ended");
  await other;
  expect(CONTENT.equals(await readFile(path))).toBe(true);
  expect(await remainders(path)).toEqual([]);
});

it("a download tells the size, the hash and the commit, and whether the hash was named before", async () => {
  const url = await serve(send);
  const downloaded = await downloadFile({ url, path: await temporaryPath(), onProgress: () => {} });
  const digest = { kind: "sha256", hex: SHA256 };
  expect(downloaded).toEqual({ bytes: CONTENT.length, digest, vouched: true, commit: "0123abc" });
  const silent = await serve((_, response) => response.end(CONTENT));
  const unnamed = await downloadFile({ url: silent, path: await temporaryPath(), onProgress: () => {} });
  expect(unnamed).toEqual({ bytes: CONTENT.length, digest, vouched: false, commit: undefined });
});

it("a file that is larger than the disk's free space is refused before it comes", async () => {
  let requests = 0;
  const url = await serve((_, response) => {
    requests++;
    response.writeHead(200, { "content-length": 8e18 });
    response.write("a");
  });
  const path = await temporaryPath();
  await expect(download(url, path)).rejects.toThrow(
    /^the disk has [\d,]+ MB free, and the file needs 8,000,000,000,000 MB more$/,
  );
  expect(requests).toBe(1);
  expect(await readdir(dirname(path))).toEqual([]);
});

it("a file that does not match its hash never stands under its name", async () => {
  let requests = 0;
  const url = await serve((request, response) => {
    requests++;
    send(request, response, "0".repeat(64));
  });
  const path = await temporaryPath();
  await expect(download(url, path)).rejects.toThrow("does not match its hash");
  expect(requests).toBe(4);
  expect(await readdir(dirname(path))).toEqual([]);
});

it("a remainder of another version is thrown away and the file downloaded anew", async () => {
  const url = await serve(send);
  const path = await temporaryPath();
  await download(url, path);
  for (const stale of [randomBytes(1000), randomBytes(CONTENT.length), randomBytes(CONTENT.length + 1)]) {
    await rm(path);
    await writeFile(`${path}.part`, stale);
    await download(url, path);
    expect(CONTENT.equals(await readFile(path))).toBe(true);
  }
});

it("a server without ranges sends the whole file again", async () => {
  let requests = 0;
  const url = await serve((_, response) => {
    if (++requests === 1) sendHalf(response);
    else response.end(CONTENT);
  });
  const path = await temporaryPath();
  await download(url, path);
  expect(CONTENT.equals(await readFile(path))).toBe(true);
});

it("the hash on the hub's own answer holds after a redirect, the other server's tag does not", async () => {
  let target = "";
  const url = await serve((request, response) => {
    if (request.url === "/file") {
      response
        .writeHead(302, { location: "/moved", "x-repo-commit": "0", "x-linked-etag": `"${target}"` })
        .end();
    } else {
      response.setHeader("etag", `"${"f".repeat(64)}"`).end(CONTENT);
    }
  });
  target = SHA256;
  const path = await temporaryPath();
  await download(url, path);
  target = "0".repeat(64);
  await expect(download(url, `${path}2`)).rejects.toThrow("does not match its hash");
});

it("small files are held against git's hash", async () => {
  let tag = GIT_BLOB;
  const url = await serve((_, response) => {
    response.setHeader("x-repo-commit", "0").setHeader("etag", `"${tag}"`).end(CONTENT);
  });
  const path = await temporaryPath();
  await download(url, path);
  tag = "0".repeat(40);
  await expect(download(url, `${path}2`)).rejects.toThrow("does not match its hash");
});

it("a file comes whole when garbage is collected before it is read", async () => {
  const url = await serve((request, response) => send(request, response));
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const file = await requestFile(url, { offset: 0, signal: new AbortController().signal });
  for (let time = 0; time < 5; time++) {
    collectGarbage();
    await sleep(10);
  }
  let bytes = 0;
  for await (const piece of file.body) bytes += piece.length;
  expect(bytes).toBe(file.bytesTotal);
});

it("a file that is not there is asked for once, a server in trouble four times", async () => {
  for (const [status, times] of [
    [404, 1],
    [401, 1],
    [503, 4],
  ] as const) {
    let requests = 0;
    const url = await serve((_, response) => {
      requests++;
      response.writeHead(status).end();
    });
    await expect(download(url, await temporaryPath())).rejects.toThrow(`HTTP ${status}`);
    expect(requests).toBe(times);
  }
});

it("a connection on which nothing comes is given up", async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { "content-length": CONTENT.length });
    response.write(CONTENT.subarray(0, 1000));
  });
  await expect(download(url, await temporaryPath(), { stallTimeoutMs: 50 })).rejects.toThrow(
    "no data for 50 ms",
  );
});

it("redirects in a circle end", async () => {
  const url = await serve((_, response) => response.writeHead(302, { location: "/file" }).end());
  await expect(download(url, await temporaryPath())).rejects.toThrow("redirected more than 5 times");
});

it("two downloads of the same file at once both end with it", async () => {
  const url = await serve(send);
  const path = await temporaryPath();
  await Promise.all([download(url, path), download(url, path)]);
  expect(CONTENT.equals(await readFile(path))).toBe(true);
});
