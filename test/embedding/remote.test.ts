import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { openRemote, type RemoteOptions, type RemoteSettings } from "../../src/embedding/remote/open.js";
import { readAnswer } from "../../src/embedding/remote/request.js";
import type { EmbedInput } from "../../src/memory/ports/embedder.js";
import { chanceOf } from "../support/chance.js";
import {
  type AskedEmbeddings,
  answerTo,
  type FakeEmbeddingServer,
  openEmbeddingServer,
  tokensOf,
} from "../support/embedding-server.js";

// Pauses and time-outs pass here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 40_000 });

const KEY = "sk-secret-1234";
const KITCHEN = "The kettle is in the kitchen.";

let server: FakeEmbeddingServer;
beforeEach(async () => {
  server = await openEmbeddingServer();
});
afterEach(() => server.stop());

async function open(more: Partial<RemoteSettings> = {}, options: Partial<RemoteOptions> = {}) {
  const remote = { embedUrl: server.url, embedApiKey: KEY, embedMaxTokens: 512, ...more };
  const embedder = await openRemote({ model: "openai:test", remote, ...options });
  onTestFinished(() => embedder.close());
  server.asked.length = 0;
  return embedder;
}

type Embedder = Awaited<ReturnType<typeof open>>;

function embed(embedder: Embedder, text = KITCHEN, more: Partial<EmbedInput> = {}) {
  return embedder.embed({ text, field: "text", owner: "a", deadlineMs: performance.now() + 30_000, ...more });
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail("it did not fail"),
    (error) => error,
  );

/** Answers requests for texts by a function, and leaves those for the probe to the server. */
function disturbTexts(by: (asked: AskedEmbeddings, response: ServerResponse) => void) {
  server.disturb = (asked, response) => {
    if (asked.input.includes("probe")) return false;
    by(asked, response);
    return true;
  };
}

const status =
  (code: number, headers = {}) =>
  (_: unknown, response: ServerResponse) =>
    void response.writeHead(code, headers).end();

const status429: FakeEmbeddingServer["disturb"] = (_, response) => {
  response.writeHead(429).end();
  return true;
};

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
}

describe("a remote model", () => {
  it("has the server's vectors, at length 1, and the tokens that it counts", async () => {
    const embedder = await open();
    const { vectors, windows, tokens } = await embed(embedder);
    expect(embedder.model).toEqual({
      id: "openai:test",
      revision: "unknown",
      dtype: "float32",
      dimensions: 64,
      pooling: "model",
    });
    expect(Math.hypot(...vectors)).toBeCloseTo(1, 5);
    expect(windows).toBeUndefined();
    expect(tokens).toBe(tokensOf(KITCHEN));
    expect(server.asked).toEqual([
      {
        model: "test",
        input: [KITCHEN],
        encoding_format: "base64",
        authorization: `Bearer ${KEY}`,
        path: "/v1/embeddings",
      },
    ]);
  });

  it("reads numbers where the server knows no base64, and asks for none where it refuses that", async () => {
    const base64 = (await embed(await open())).vectors;
    server.disturb = ({ encoding_format }, response) => {
      if (encoding_format === undefined) return false;
      response.writeHead(400).end();
      return true;
    };
    const { vectors } = await embed(await open());
    expect(server.asked).toMatchObject([{ input: [KITCHEN] }]);
    expect(cosine(vectors, base64)).toBeCloseTo(1, 5);
    server.disturb = (asked, response) => {
      response.end(JSON.stringify(answerTo({ ...asked, encoding_format: "float" })));
      return true;
    };
    expect(cosine((await embed(await open())).vectors, base64)).toBeCloseTo(1, 5);
  });

  it("has prefixes and asks for dimensions as the settings say", async () => {
    const settings = { embedQueryPrefix: "query: ", embedTextPrefix: "passage: ", embedDimensions: 16 };
    const embedder = await open(settings);
    await embed(embedder);
    await embed(embedder, "kettle", { field: "query" });
    expect(server.asked).toMatchObject([
      { input: [`passage: ${KITCHEN}`], dimensions: 16 },
      { input: ["query: kettle"] },
    ]);
    expect(embedder.model).toMatchObject({ dimensions: 16, passagePrefix: "passage: " });
    // A database's prefix comes before that of the settings.
    const other = await open(settings, { settings: { passagePrefix: "" } });
    await embed(other);
    expect(server.asked).toMatchObject([{ input: [KITCHEN] }]);
  });

  it("estimates tokens where the server counts none", async () => {
    const embedder = await open();
    disturbTexts((asked, response) => response.end(JSON.stringify({ ...answerTo(asked), usage: undefined })));
    expect((await embed(embedder)).tokens).toBe(7);
  });

  it("puts texts that wait into few requests, bounded in texts, in tokens and in number", async () => {
    const embedder = await open();
    server.disturb = () => sleep(30).then(() => false);
    const texts = Array.from({ length: 300 }, (_, i) => `memory ${i} is about ${"tea ".repeat(i % 9)}`);
    const embedded = await Promise.all(
      texts.map((text) => embed(embedder, text, { owner: `o${text.length % 7}` })),
    );
    const alone = await embed(embedder, texts[299]);
    expect(cosine(embedded[299]?.vectors as Float32Array, alone.vectors)).toBeCloseTo(1, 5);
    const sizes = server.asked.map(({ input }) => input.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(32);
    expect(sizes.length).toBeLessThan(60);
    expect(server.mostAtOnce).toBeLessThanOrEqual(8);
    server.asked.length = 0;
    const long = Array.from({ length: 60 }, (_, i) => `${i} ${"tea ".repeat(400)}`);
    await Promise.all(long.map((text) => embed(embedder, text)));
    expect(Math.max(...server.asked.map(({ input }) => input.length))).toBeLessThanOrEqual(20);
  });

  it("reads a long text in windows that overlap, and the largest one without holding the main thread", async () => {
    const embedder = await open({ embedMaxTokens: 64 });
    const sentences = Array.from(
      { length: 40 },
      (_, i) => `Fact number ${i} is about the colour of house ${i * 7}.`,
    );
    const text = sentences.join(" ");
    const { vectors, windows = [], tokens } = await embed(embedder, text);
    expect(vectors.length).toBe(windows.length * 64);
    expect(windows[0]?.start).toBe(0);
    expect(windows.at(-1)?.end).toBe(text.length);
    for (const [i, { start }] of windows.slice(1).entries())
      expect(start).toBeLessThan(windows[i]?.end as number);
    for (const { input } of server.asked)
      for (const each of input) expect(tokensOf(each)).toBeLessThanOrEqual(64);
    expect(tokens).toBeGreaterThan(40 * 10);
    for (const sentence of sentences)
      expect(windows.some(({ start, end }) => text.slice(start, end).includes(sentence))).toBe(true);
    const largest = Array.from({ length: 3_000 }, (_, i) => `${i}点检查牙齿。 Tea ${i} is at nine!`)
      .join(" ")
      .slice(0, 65_000);
    const whole = await embed(embedder, largest);
    expect(whole.windows?.length).toBeLessThanOrEqual(1024);
    expect(whole.windows?.at(-1)?.end).toBeGreaterThan(64_990);
  });

  it("has fewer windows where vectors are larger, so that a memory has no more than 4 MiB of them", async () => {
    const embedder = await open({ embedMaxTokens: 32, embedDimensions: 4096 });
    const text = Array.from({ length: 1200 }, (_, i) => `Fact ${i} is about house ${i}.`).join(" ");
    const { vectors, windows = [] } = await embed(embedder, text);
    expect(server.asked.flatMap(({ input }) => input).length).toBeGreaterThan(257);
    expect(windows.length).toBe(256);
    expect(vectors.length).toBe(1024 * 1024);
  });

  it("cuts a text of which the server counts more tokens than the estimate", async () => {
    const embedder = await open();
    disturbTexts((asked, response) => {
      if (asked.input.some((text) => text.length > 400)) response.writeHead(413).end();
      else response.end(JSON.stringify(answerTo(asked)));
    });
    const { windows = [] } = await embed(
      embedder,
      "One more sentence about nothing much at all. ".repeat(30),
    );
    expect(windows.length).toBeGreaterThan(2);
  });

  it("fails no text because of another one in the same request", async () => {
    const embedder = await open();
    const refuse = (code: number) =>
      disturbTexts((asked, response) => {
        if (asked.input.includes("poison")) response.writeHead(code).end();
        else response.end(JSON.stringify(answerTo(asked)));
      });
    refuse(400);
    const texts = Array.from({ length: 20 }, (_, i) => (i === 13 ? "poison" : `text ${i}`));
    const outcomes = await Promise.allSettled(texts.map((text) => embed(embedder, text)));
    expect(outcomes.flatMap(({ status }, i) => (status === "rejected" ? i : []))).toEqual([13]);
    expect(outcomes[13]).toMatchObject({
      reason: {
        code: "internal",
        message: "the embedding server gives no vector for the text: it answers with HTTP 400",
      },
    });
    refuse(500);
    const failed = await failureOf(embed(embedder, "poison"));
    expect(failed).toMatchObject({ code: "unavailable", message: expect.stringContaining("HTTP 500") });
    // The server is not away because of it.
    await embed(embedder);
  });

  it("keeps no account waiting for the texts of another that the server fails on", async () => {
    const embedder = await open();
    disturbTexts((asked, response) => {
      if (asked.input.some((text) => text.startsWith("poison"))) response.writeHead(500).end();
      else response.end(JSON.stringify(answerTo(asked)));
    });
    let givenUp = 0;
    const poisons = Array.from({ length: 40 }, async (_, i) => {
      const failed = await failureOf(embed(embedder, `poison ${i}`, { owner: "hostile" }));
      givenUp++;
      expect(failed.message).toContain("HTTP 500");
    });
    await Promise.all(Array.from({ length: 40 }, (_, i) => embed(embedder, `text ${i}`)));
    await embed(embedder, "one more");
    // The server fails on a text five times before it is given up, which takes 1.5 s at least.
    expect(givenUp).toBe(0);
    await Promise.all(poisons);
    // With the probe.
    expect(server.mostAtOnce).toBeLessThanOrEqual(9);
  });

  it("takes no count of tokens from the server that a text cannot have", async () => {
    const embedder = await open();
    disturbTexts((asked, response) =>
      response.end(JSON.stringify({ ...answerTo(asked), usage: { prompt_tokens: 2 ** 40 } })),
    );
    expect((await embed(embedder)).tokens).toBe(KITCHEN.length + 64);
  });
});

describe("a server in trouble", () => {
  it("is tried again after lost connections, errors and limits, as long as the call waits", async () => {
    const embedder = await open();
    const troubles = [
      (_: unknown, response: ServerResponse) => void response.destroy(),
      status(429),
      status(503, { "retry-after": "0" }),
    ];
    server.disturb = (asked, response) => {
      const trouble = asked.input.includes("probe") ? undefined : troubles.shift();
      trouble?.(asked, response);
      return trouble !== undefined;
    };
    expect((await embed(embedder)).tokens).toBe(tokensOf(KITCHEN));
    expect(troubles).toEqual([]);
  });

  it("is not away as long as it only limits its rate", async () => {
    const onAway = vi.fn();
    const embedder = await open({}, { onAway });
    server.disturb = ({ input }, response) => {
      response.writeHead(input.includes("probe") ? 429 : 400).end();
      return true;
    };
    expect(await failureOf(embed(embedder))).toMatchObject({
      code: "internal",
      message: expect.stringContaining("HTTP 400"),
    });
    server.disturb = status429;
    expect(await failureOf(embed(embedder))).toMatchObject({
      message: "the embedding server limits its rate",
    });
    expect(onAway).not.toHaveBeenCalled();
  });

  it("is waited for as it asks by Retry-After, if the call has the time", async () => {
    const embedder = await open();
    let refusals = 1;
    server.disturb = (_, response) => {
      if (refusals-- <= 0) return false;
      response.writeHead(429, { "retry-after": "2" }).end();
      return true;
    };
    const begunMs = performance.now();
    await embed(embedder);
    expect(performance.now() - begunMs).toBeGreaterThan(1990);
    refusals = 1;
    const hasty = await failureOf(embed(embedder, KITCHEN, { deadlineMs: performance.now() + 1500 }));
    expect(hasty).toMatchObject({
      code: "unavailable",
      message: "the embedding server limits its rate",
      retryAfterMs: 2000,
    });
    refusals = Number.POSITIVE_INFINITY;
    server.disturb = (_, response) => {
      response.writeHead(429, { "retry-after": new Date(Date.now() + 60_000).toUTCString() }).end();
      return true;
    };
    expect((await failureOf(embed(embedder))).retryAfterMs).toBeGreaterThan(50_000);
  });

  it("is not waited for by a call that has less time than others of its request", async () => {
    const embedder = await open();
    server.disturb = (_, response) => {
      response.writeHead(429, { "retry-after": "20" }).end();
      return true;
    };
    const patient = failureOf(embed(embedder, "of a namespace that moves", { deadlineMs: undefined }));
    const begunMs = performance.now();
    const hasty = await failureOf(embed(embedder, KITCHEN, { deadlineMs: begunMs + 10_000 }));
    expect(hasty).toMatchObject({ message: "the embedding server limits its rate", retryAfterMs: 20_000 });
    expect(performance.now() - begunMs).toBeLessThan(8_000);
    expect(server.asked.map(({ input }) => input.length)).toEqual([2]);
    await embedder.close();
    expect((await patient).code).toBe("unavailable");
  });

  it("that is slow fails the call in time", async () => {
    const embedder = await open();
    server.disturb = () => new Promise(() => {});
    const begunMs = performance.now();
    const failed = await failureOf(embed(embedder, KITCHEN, { deadlineMs: begunMs + 1000 }));
    expect(failed.code).toBe("unavailable");
    expect(performance.now() - begunMs).toBeLessThan(7000);
  });

  it.each<[string, (asked: AskedEmbeddings, response: ServerResponse) => unknown, string]>([
    ["HTML", (_, r) => r.end("<!doctype html><title>Sign in</title>"), "its answer is HTML or XML, not JSON"],
    ["no JSON", (_, r) => r.end('{"data": [{'), "its answer is not JSON"],
    [
      "a redirect",
      (_, r) => r.writeHead(307, { location: server.url }).end(),
      "a redirect, which is not followed",
    ],
    [
      "a refusal of the key",
      (_, r) => r.writeHead(401).end(JSON.stringify({ error: { message: `Bad key ${KEY}` } })),
      "it answers with HTTP 401; EMBED_API_KEY may be wrong",
    ],
    [
      "fewer vectors",
      (a, r) => r.end(JSON.stringify({ ...answerTo(a), data: [] })),
      "its answer holds 0 vectors for 1 texts",
    ],
    [
      "other dimensions",
      (a, r) => r.end(JSON.stringify(answerTo({ ...a, dimensions: 3 }))),
      "its answer holds a vector of 3 dimensions, not 64",
    ],
    [
      "NaN",
      (_, r) => r.end('{"data": [{"index": 0, "embedding": [NaN, 1]}]}'),
      "its answer holds NaN or Infinity, and is no JSON",
    ],
    [
      "zeros",
      (_, r) => r.end(JSON.stringify({ data: [{ embedding: new Array(64).fill(0) }] })),
      "its answer holds a vector of zeros",
    ],
    [
      "a body without an end",
      (_, r) => {
        const more = () => {
          if (!r.destroyed) r.write("x".repeat(65_536), () => setImmediate(more));
        };
        more();
      },
      "its answer is over 67584 bytes",
    ],
  ])("that answers with %s is away, and says so", async (_, disturb, message) => {
    const onAway = vi.fn();
    const embedder = await open({}, { onAway });
    server.disturb = (asked, response) => {
      disturb(asked, response);
      return true;
    };
    const failed = await failureOf(embed(embedder));
    expect(failed).toMatchObject({
      code: "unavailable",
      message: "the embedding server is away",
      retryAfterMs: 2000,
    });
    expect(failed.cause.message).toContain(message);
    expect(JSON.stringify([failed, failed.cause, failed.cause.message])).not.toContain("secret");
    expect(onAway).toHaveBeenCalledWith(failed.cause);
    // Calls fail at once while it is away.
    const asked = server.asked.length;
    expect((await failureOf(embed(embedder))).message).toBe("the embedding server is away");
    expect(server.asked.length).toBe(asked);
  });

  it("is asked again by itself, and calls go on once it is back", async () => {
    const onAway = vi.fn();
    const embedder = await open({}, { onAway });
    await server.stop();
    const failed = await Promise.all(["a", "b"].map((text) => failureOf(embed(embedder, text))));
    expect(failed).toMatchObject([{ code: "unavailable" }, { code: "unavailable" }]);
    expect(failed[0].cause.message).toBe("the connection failed (ECONNREFUSED)");
    await sleep(2500);
    await server.start();
    await vi.waitFor(() => expect(onAway).toHaveBeenLastCalledWith(undefined), { timeout: 10_000 });
    await embed(embedder);
  });

  it("that comes back after the model was closed is not told of", async () => {
    const onAway = vi.fn();
    const embedder = await open({}, { onAway });
    server.disturb = (asked, response) => {
      status(400)(asked, response);
      return true;
    };
    await failureOf(embed(embedder));
    expect(onAway).toHaveBeenCalledOnce();
    const probe = await new Promise<() => void>((resolve) => {
      server.disturb = (asked, response) => {
        resolve(() => response.end(JSON.stringify(answerTo(asked))));
        return true;
      };
    });
    await embedder.close();
    probe();
    await sleep(100);
    expect(onAway).toHaveBeenCalledOnce();
  });

  it("does not hold texts whose callers have gone", async () => {
    const embedder = await open();
    server.disturb = (_, response) => {
      response.writeHead(429, { "retry-after": "1" }).end();
      return true;
    };
    const gone = new AbortController();
    const failed = failureOf(embed(embedder, KITCHEN, { signal: gone.signal }));
    await vi.waitFor(() => expect(server.asked.length).toBe(1));
    gone.abort(new Error("gone"));
    expect((await failed).message).toBe("gone");
    server.disturb = () => false;
    await sleep(1500);
    expect(server.asked.length).toBe(1);
  });
});

describe("random trouble", () => {
  it("gives each text its own vector or an error in time, whatever the server does", async () => {
    const embedder = await open();
    const { wanted } = await wantedVectors(embedder);
    const chance = chanceOf(2023);
    const pick = <T>(...all: readonly T[]): T => chance.pick(all);
    const badAt = new Set(Array.from({ length: 12 }, () => chance.below(wanted.length)));
    const isBad = (text: string) => badAt.has(Number(text.split(" ")[1]));
    let now = 0;
    let most = 0;
    server.disturb = async (asked, response) => {
      most = Math.max(most, ++now);
      response.on("close", () => now--);
      if (asked.input.includes("probe")) return false;
      if (asked.input.some(isBad)) {
        response.writeHead(pick(400, 413, 500)).end();
        return true;
      }
      const { data, ...rest } = answerTo(asked);
      const send = (items: unknown, more = {}) =>
        response.end(JSON.stringify({ ...rest, data: items, ...more }));
      await sleep(chance.next() * 20);
      const trouble = pick<() => unknown>(
        () => send(data),
        () => send(data),
        () => send(data.toReversed()),
        () => send(data.map(({ index: _, ...each }) => each)),
        // Such an answer to one text alone is its failure.
        () => send(data.length > 1 ? data.slice(1) : data),
        () => send(data.length > 1 ? [...data, ...data] : data),
        () => send(data, { usage: { prompt_tokens: pick<unknown>(-1, 0, "x", 2 ** 60, null) } }),
        () => response.writeHead(429, { "retry-after": pick("0", "0.1", "soon") }).end(),
        () => response.writeHead(503).end(),
        () => response.destroy(),
        () => response.write('{"data": [', () => response.destroy()),
      );
      trouble();
      return true;
    };
    const begunMs = performance.now();
    const outcomes = await Promise.allSettled(
      wanted.map(async ({ text }, i) => {
        await sleep(chance.next() * 1500);
        return embed(embedder, text, { owner: `o${i % 5}`, deadlineMs: performance.now() + 15_000 });
      }),
    );
    expect(performance.now() - begunMs).toBeLessThan(20_000);
    for (const [i, outcome] of outcomes.entries()) {
      const { text, vector } = wanted[i] as (typeof wanted)[number];
      if (outcome.status === "fulfilled") {
        expect(cosine(outcome.value.vectors, vector)).toBeCloseTo(1, 5);
        expect(outcome.value.tokens).toBeGreaterThan(0);
        expect(outcome.value.tokens).toBeLessThan(200);
      } else if (!isBad(text)) expect(outcome.reason).toMatchObject({ code: "unavailable" });
    }
    const failed = outcomes.flatMap(({ status }, i) => (status === "rejected" ? i : []));
    expect(failed.filter((i) => badAt.has(i)).length).toBe(badAt.size);
    expect(failed.length).toBeLessThan(wanted.length / 4);
    expect(most).toBeLessThanOrEqual(9);
  });

  /** Makes texts, and reads their vectors while the server is well. */
  async function wantedVectors(embedder: Embedder) {
    const texts = Array.from({ length: 240 }, (_, i) => `memory ${i} is about ${i * 7} and ${i * 13}`);
    const vectors = await Promise.all(texts.map((text) => embed(embedder, text)));
    return { wanted: texts.map((text, i) => ({ text, vector: vectors[i]?.vectors as Float32Array })) };
  }
});

describe("the start", () => {
  const refusal = (more: Partial<RemoteSettings> = {}, model = "openai:test") =>
    failureOf(
      openRemote({ model, remote: { embedUrl: server.url, embedApiKey: KEY, embedMaxTokens: 512, ...more } }),
    );

  it("repeats no part of the key from the server's words, also where these are cut", async () => {
    server.disturb = (_, response) => {
      response.writeHead(400).end(JSON.stringify({ error: { message: `${"x".repeat(190)} ${KEY} is bad` } }));
      return true;
    };
    const { message } = await refusal();
    expect(message).toContain(`HTTP 400 (${"x".repeat(190)} … is bad)`);
    expect(message).not.toContain("sk-");
  });

  it("says that the server does not answer, after a while", async () => {
    await server.stop();
    expect(await refusal({ embedUrl: `${server.url}?key=${KEY}` })).toMatchObject({
      code: "unavailable",
      message: `EMBED_URL: the embedding server at ${server.url}/embeddings does not answer: the connection failed (ECONNREFUSED)`,
    });
    await server.start();
  });

  it("waits for a server that starts, too", async () => {
    await server.stop();
    const opened = open();
    await sleep(1000);
    await server.start();
    await embed(await opened);
  });

  it.each([
    [
      404,
      { error: { message: 'model "test" not found' } },
      '404 (model "test" not found); EMBED_URL may be wrong',
    ],
    [
      401,
      { error: { message: "Incorrect API key provided: sk-se***34" } },
      "401; EMBED_API_KEY may be wrong",
    ],
    [
      422,
      { error: "inputs must have less than 8 words", error_type: "Validation" },
      "422 (inputs must have less than 8 words)",
    ],
    [400, "no message", "400"],
  ])("repeats what the server says with %i, and nothing of a key", async (code, body, message) => {
    server.disturb = (_, response) => {
      response.writeHead(code).end(JSON.stringify(body));
      return true;
    };
    expect(await refusal()).toMatchObject({
      code: "failed_precondition",
      message: `EMBED_URL: the embedding server at ${server.url}/embeddings gives no vectors of test: it answers with HTTP ${message}`,
    });
  });

  it("refuses settings with which nothing can be read", async () => {
    expect((await refusal({ embedUrl: undefined })).message).toBe(
      "MODEL=openai:test needs EMBED_URL, and it is not set",
    );
    expect((await refusal({}, "openai:")).message).toMatch(/^MODEL must have the model's name/);
    expect((await refusal({ embedMaxTokens: 32, embedQueryPrefix: "word ".repeat(20) })).message).toBe(
      "EMBED_MAX_TOKENS is 32, and the prefixes take about 20 of them; make it larger",
    );
    server.disturb = (asked, response) => {
      response.end(JSON.stringify(answerTo({ ...asked, dimensions: 5000 })));
      return true;
    };
    expect((await refusal()).message).toContain("a vector of 5000 dimensions; the limit is 4096");
  });
});

describe("an answer", () => {
  const read = (data: unknown, texts = 2) => readAnswer(JSON.stringify({ data }), { texts, dimensions: 2 });
  const items = (...embeddings: unknown[]) => embeddings.map((embedding) => ({ embedding }));

  it("is put into the order of the texts", () => {
    const data = [
      { index: 1, embedding: [0, 2] },
      { index: 0, embedding: [3, 0] },
    ];
    expect(read(data).vectors.map((vector) => [...vector])).toEqual([
      [1, 0],
      [0, 1],
    ]);
    expect(read(items([0, 2], [3, 0])).vectors.map((vector) => [...vector])).toEqual([
      [0, 1],
      [1, 0],
    ]);
  });

  it.each<[string, unknown, string]>([
    [
      "the same number twice",
      [0, 0].map((index) => ({ index, embedding: [1, 0] })),
      "numbers its vectors wrongly",
    ],
    [
      "a number out of the range",
      [0, 2].map((index) => ({ index, embedding: [1, 0] })),
      "numbers its vectors wrongly",
    ],
    ["no list", {}, "holds no list of embeddings"],
    ["too few", items([1, 0]), "holds 1 vectors for 2 texts"],
    ["null in a vector", items([1, null], [1, 0]), "something else than numbers"],
    [
      "Infinity in base64",
      items(Buffer.from(Float32Array.of(1, Infinity).buffer).toString("base64"), [1, 0]),
      "NaN or Infinity",
    ],
    [
      "NaN in base64",
      items(Buffer.from(Float32Array.of(1, Number.NaN).buffer).toString("base64"), [1, 0]),
      "NaN or Infinity",
    ],
    ["half a number in base64", items("AAAAAAA=", [1, 0]), "no base64 of float32"],
    ["nothing for a text", items([1, 0], undefined), "lacks a vector"],
    ["an empty vector", items([], [1, 0]), "a vector without numbers"],
    ["zeros", items([0, 0], [1, 0]), "a vector of zeros"],
    ["other dimensions", items([1, 0], [1, 0, 0]), "a vector of 3 dimensions, not 2"],
  ])("with %s is refused", (_, data, message) => {
    expect(() => read(data)).toThrow(message);
  });

  it("holds no number that is too large for a vector's length", () => {
    const data = '{"data": [{"embedding": [1e999, 1]}, {"embedding": [1, 1]}]}';
    expect(() => readAnswer(data, { texts: 2, dimensions: 2 })).toThrow("NaN or Infinity");
  });
});
