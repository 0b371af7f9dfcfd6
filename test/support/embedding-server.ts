import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { chanceOf } from "./chance.js";

/** What a client asked for. */
export interface AskedEmbeddings {
  readonly model: string;
  readonly input: readonly string[];
  readonly encoding_format?: string;
  readonly dimensions?: number;
  readonly authorization: string | undefined;
  readonly path: string;
}

export interface FakeEmbeddingServer {
  /** Base address, as `EMBED_URL` has it. */
  readonly url: string;
  readonly asked: AskedEmbeddings[];
  /** Largest number of requests that were on their way at once. */
  mostAtOnce: number;
  /** Answers a request otherwise, and returns true; or leaves it to the server. */
  disturb: (asked: AskedEmbeddings, response: ServerResponse) => boolean | Promise<boolean>;
  /** Goes away: closes all connections and the port. */
  stop(): Promise<void>;
  /** Comes back at the same address. */
  start(): Promise<void>;
}

const DIMENSIONS = 64;

/** A server with OpenAI's API for embeddings: vectors are the sums of those of the texts' words. */
export async function openEmbeddingServer(): Promise<FakeEmbeddingServer> {
  let server: Server;
  let port = 0;
  let now = 0;
  const fake: FakeEmbeddingServer = {
    get url() {
      return `http://127.0.0.1:${port}/v1`;
    },
    asked: [],
    mostAtOnce: 0,
    disturb: () => false,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
    start: async () => {
      server = createServer((request, response) => void serve(request, response));
      await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
      port = (server.address() as AddressInfo).port;
    },
  };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { authorization } = request.headers;
    const asked = { ...JSON.parse(String(Buffer.concat(chunks))), authorization, path: request.url };
    fake.asked.push(asked);
    fake.mostAtOnce = Math.max(fake.mostAtOnce, ++now);
    if (!(await fake.disturb(asked, response))) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answerTo(asked)));
    }
    now--;
  };
  await fake.start();
  return fake;
}

/** Makes the answer that a well server gives. */
export function answerTo({ model, input, encoding_format, dimensions = DIMENSIONS }: AskedEmbeddings) {
  const shown = (vector: Float32Array) =>
    encoding_format === "base64" ? Buffer.from(vector.buffer).toString("base64") : [...vector];
  const data = input.map((text, index) => ({
    object: "embedding",
    index,
    embedding: shown(vectorOf(text, dimensions)),
  }));
  const tokens = input.reduce((sum, text) => sum + tokensOf(text), 0);
  return { object: "list", model, data, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** Counts tokens as this server does: each word, and one at each end. */
export function tokensOf(text: string): number {
  return wordsIn(text).length + 2;
}

function vectorOf(text: string, dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const word of wordsIn(text)) {
    const chance = chanceOf([...word].reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) | 0, 7));
    for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] as number) + chance.next() - 0.5;
  }
  return sum;
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["nothing"];
}
