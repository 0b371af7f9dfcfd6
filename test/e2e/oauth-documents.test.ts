import { Writable } from "node:stream";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openService, type Service } from "../../dist/src/compose.js";
import { loadConfig } from "../../dist/src/config/config.js";
import { openLog } from "../../dist/src/server/logging.js";
import { signUp } from "../support/caller.js";
import { anApp, aUser, BACK, flowOf, ISSUER, post } from "../support/oauth.js";
import { newDataDir, unhurried } from "../support/server.js";

const CLIENT = "https://app.example/oauth/client.json";
const DOCUMENT = { client_id: CLIENT, client_name: "Documented", redirect_uris: [BACK] };

// Documents come from the public internet alone, so here they are given by hand.
const fetchDocument = vi.fn(async (): Promise<unknown> => DOCUMENT);
let service: Service;
beforeAll(async () => {
  const env = unhurried({ DATA_DIR: newDataDir(), PORT: "0", EMBED_WORKERS: "1", PUBLIC_URL: ISSUER });
  const lines = new Writable({ write: (_chunk, _encoding, done) => done() });
  const { logger, dropped: droppedLines } = openLog("info", lines);
  const stopping = new AbortController().signal;
  service = await openService(loadConfig(env), {
    logger,
    droppedLines,
    stopping,
    fetchDocument,
  });
}, 60_000);
afterAll(() => service?.close({ noticeMs: 0, force: AbortSignal.abort() }));

it("a client with a document needs no registration", async () => {
  const { address: url } = service;
  const { key, call } = await signUp(url);
  const user = await aUser(url, key);
  const app = anApp(url, { metadataUrl: CLIENT });
  const { client, transport } = app.open();
  await expect(client.connect(transport)).rejects.toThrow("Unauthorized");
  const query = app.sentTo().search.slice(1);
  expect(new URLSearchParams(query).get("client_id")).toBe(CLIENT);
  expect((await user.ask("request", { query })).body.client).toEqual({
    name: "Documented",
    host: "app.example",
  });
  await transport.finishAuth((await user.allow(query)).searchParams);
  const again = app.open();
  await again.client.connect(again.transport);
  expect((await again.client.listTools()).tools.length).toBe(7);
  const { body } = await call("GET /keys");
  expect(body.keys).toMatchObject([{}, { name: "Documented (app.example)" }]);
}, 60_000);

it("a document is fetched for users who may consent, and for nobody else", async () => {
  const { address: url } = service;
  const other = "https://other.example/client.json";
  fetchDocument.mockClear();
  const flow = flowOf(url, other);
  expect((await post(`${url}/authorize/request`, { query: flow.query() })).status).toBe(401);
  expect((await flow.exchange("rco_x")).body.error).toBe("invalid_grant");
  expect(fetchDocument).not.toHaveBeenCalled();
  const { key } = await signUp(url);
  const { status, body } = await (await aUser(url, key)).ask("request", { query: flow.query() });
  expect([status, body.message]).toEqual([
    400,
    "client_id is the address of a document about another client",
  ]);
}, 60_000);
