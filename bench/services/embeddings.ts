import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { openEmbedder } from "../../dist/src/embedding/open.js";
import type { Embeddings } from "./service.js";

/** Opens the bundled model, for this process and behind a server with OpenAI's API. */
export async function openEmbeddings(modelsDir: string): Promise<Embeddings> {
  const embedder = await openEmbedder({ model: "bundled", modelsDir, workers: 1 });
  const embed: Embeddings["embed"] = async (text, field) => {
    const { vectors } = await embedder.embed({ text, field, owner: "" });
    return [...vectors];
  };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { input } = JSON.parse(String(Buffer.concat(chunks))) as { input: string | string[] };
    const texts = typeof input === "string" ? [input] : input;
    const vectors = await Promise.all(texts.map((text) => embed(text, "text")));
    const data = vectors.map((embedding, index) => ({ object: "embedding", index, embedding }));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ object: "list", model: "bundled", data }));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/embeddings`,
    embed,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await embedder.close();
    },
  };
}
