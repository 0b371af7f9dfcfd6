import { connect } from "node:http2";

/** Posts JSON by HTTP/2, as browsers do over TLS; resolves with the status. */
export async function postByHttp2(url: string, body: object, headers: Record<string, string> = {}) {
  const { origin, pathname } = new URL(url);
  const client = connect(origin);
  const sent = client.request({
    ":method": "POST",
    ":path": pathname,
    "content-type": "application/json",
    ...headers,
  });
  try {
    return await new Promise<number>((resolve, reject) => {
      sent.once("response", (given) => resolve(Number(given[":status"]))).once("error", reject);
      sent.end(JSON.stringify(body)).resume();
    });
  } finally {
    client.close();
  }
}
