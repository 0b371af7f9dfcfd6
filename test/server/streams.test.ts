import { once } from "node:events";
import { connect, constants } from "node:http2";
import type { AddressInfo } from "node:net";
import Fastify from "fastify";
import { expect, it, onTestFinished } from "vitest";
import { ExportMemoriesResponseSchema } from "../../gen/recalld/v1/memory_pb.js";
import type { Call } from "../../src/server/call.js";
import { sendStream } from "../../src/server/rest/streams.js";

it("a stream over HTTP/2 whose client goes before its first message is not answered a second time", async () => {
  const app = Fastify({ http2: true });
  onTestFinished(() => app.close());
  const call = { signal: AbortSignal.abort() } as Call;
  const ended = new Promise((resolve, reject) => {
    app.get("/export", async (_request, reply) => {
      async function* messages() {
        await once(reply.raw.stream, "close");
        yield { line: "{}" };
        throw new Error("the client has gone");
      }
      const sending = {
        call,
        reply: reply as never,
        form: "lines",
        output: ExportMemoriesResponseSchema,
      } as const;
      stream.close(constants.NGHTTP2_CANCEL);
      await sendStream(messages(), sending).then(resolve, reject);
    });
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
  onTestFinished(() => session.destroy());
  const stream = session.request({ ":path": "/export" });
  await expect(ended).resolves.toBeUndefined();
});
