import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { signUp } from "../support/caller.js";
import { connect, overHttp, startSession } from "../support/mcp.js";
import { newDataDir, startServer, type TestServer } from "../support/server.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** The file that the program itself has kept; see the fixtures' README. */
const FILE = fileURLToPath(new URL("../fixtures/imports/memory.jsonl", import.meta.url));

const ANA = { name: "Ana", entityType: "person", observations: ["likes tea", "lives in Lisbon"] };
const TEAM = { name: "Blue team", entityType: "team", observations: [] };
const MEMBER = { from: "Ana", to: "Blue team", relationType: "is_member_of" };

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

async function open({ key, namespace = "g" }: { key?: string; namespace?: string } = {}) {
  const caller = key === undefined ? await signUp(server.url) : { key };
  const query = `?tools=graph&namespace=${namespace}`;
  const tools = await connect(overHttp({ url: server.url, key: caller.key, query }));
  return { ...tools, key: caller.key };
}

/** Opens a graph of two entities with a relation. */
async function opened() {
  const tools = await open();
  await tools.call("create_entities", { entities: [ANA, TEAM] });
  await tools.call("create_relations", { relations: [MEMBER] });
  return tools;
}

it("offers the nine tools of a knowledge graph, by their names and shapes", async () => {
  const { client } = await open();
  const { tools } = await client.listTools();
  const shapes = tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})]);
  expect(Object.fromEntries(shapes)).toEqual({
    create_entities: ["entities"],
    create_relations: ["relations"],
    add_observations: ["observations"],
    delete_entities: ["entityNames"],
    delete_observations: ["deletions"],
    delete_relations: ["relations"],
    read_graph: [],
    search_nodes: ["query"],
    open_nodes: ["names"],
  });
});

it("creates each entity and each relation once, and answers the new ones", async () => {
  const { call } = await opened();
  const again = { ...ANA, observations: ["likes coffee"] };
  const bob = { name: "Bob", entityType: "person", observations: ["plays chess", "plays chess"] };
  expect((await call("create_entities", { entities: [again, bob] })).data).toEqual({ entities: [bob] });
  expect((await call("create_relations", { relations: [MEMBER] })).data).toEqual({ relations: [] });
  const { data } = await call("read_graph");
  expect(data).toEqual({
    entities: [ANA, TEAM, { ...bob, observations: ["plays chess"] }],
    relations: [MEMBER],
  });
});

it("adds observations to entities that exist, and to no other", async () => {
  const { call } = await opened();
  const observations = [{ entityName: "Ana", contents: ["likes tea", "has a cat"] }];
  const { data } = await call("add_observations", { observations });
  expect(data).toEqual({ results: [{ entityName: "Ana", addedObservations: ["has a cat"] }] });
  const unknown = [...observations, { entityName: "Zoe", contents: ["x"] }];
  const refused = await call("add_observations", { observations: unknown });
  expect(refused.isError).toBe(true);
  expect(refused.text).toContain("Zoe");
  expect((await call("open_nodes", { names: ["Zoe", "Ana"] })).data.entities).toEqual([
    { ...ANA, observations: ["likes tea", "lives in Lisbon", "has a cat"] },
  ]);
});

it("finds entities by meaning, with all that is known of them", async () => {
  const { call } = await opened();
  await call("create_entities", {
    entities: [{ name: "Invoice 7", entityType: "document", observations: ["is unpaid"] }],
  });
  const { data } = await call("search_nodes", { query: "Where does Ana live?" });
  expect(data.entities).toEqual(expect.arrayContaining([ANA, TEAM]));
  expect(data.relations).toEqual([MEMBER]);
});

it("erases observations, relations and entities, and nothing else in the namespace", async () => {
  const { call, key } = await opened();
  const plain = await connect(overHttp({ url: server.url, key, query: "?namespace=g" }));
  await plain.call("memory_store", { text: "Ana likes tea", metadata: { entity: "Ana" } });
  const message = (what: string) => ({ success: true, message: `${what} deleted successfully` });
  const deletions = [{ entityName: "Ana", observations: ["likes tea", "never seen"] }];
  expect((await call("delete_observations", { deletions })).data).toEqual(message("Observations"));
  expect((await call("open_nodes", { names: ["Ana"] })).data.entities[0].observations).toEqual([
    "lives in Lisbon",
  ]);
  expect((await call("delete_relations", { relations: [MEMBER] })).data).toEqual(message("Relations"));
  expect((await call("read_graph")).data.relations).toEqual([]);
  expect((await call("delete_entities", { entityNames: ["Ana"] })).data).toEqual(message("Entities"));
  expect((await call("read_graph")).data).toEqual({ entities: [TEAM], relations: [] });
  expect((await plain.call("memory_list")).data.memories.map(({ text }: { text: string }) => text)).toEqual([
    "Ana likes tea",
    "Blue team (team)",
  ]);
});

it("stores more than one batch in a call, once for an Idempotency-Key", async () => {
  const { key } = await open();
  const header = { "idempotency-key": "large" };
  const transport = overHttp({
    url: server.url,
    key,
    headers: header,
    query: "?tools=graph&namespace=large",
  });
  const { call } = await connect(transport);
  const observations = Array.from({ length: 300 }, (_, i) => `fact ${i}`);
  const large = { name: "Large", entityType: "list", observations };
  expect((await call("create_entities", { entities: [large] })).data).toEqual({ entities: [large] });
  expect((await call("open_nodes", { names: ["Large"] })).data.entities).toEqual([large]);
});

it("says of a graph that is too large which part it shows", async () => {
  const { call } = await open({ namespace: "huge" });
  const observations = Array.from({ length: 25 }, (_, i) => `${i} ${"is a long note ".repeat(70)}`);
  for (const name of ["One", "Two", "Three"]) {
    await call("create_entities", { entities: [{ name, entityType: "x", observations }] });
  }
  const { data } = await call("read_graph");
  expect(data.entities.map(({ name }: { name: string }) => name)).toEqual(["One", "Two"]);
  expect(data.note).toContain("search_nodes");
});

it.each([
  ["create_entities", {}, "entities"],
  ["create_entities", { entities: [{ name: "A", entityType: "x" }] }, "entities[0].observations"],
  ["create_relations", { relations: [{ from: "A", to: 7, relationType: "x" }] }, "relations[0].to"],
  ["open_nodes", { names: "Ana" }, "names"],
  ["delete_entities", { entityNames: [null] }, "entityNames[0]"],
  ["search_nodes", { query: "" }, "query"],
])("says what is wrong with the arguments of %s", async (name, args, field) => {
  const { call } = await opened();
  const refused = await call(name, args);
  expect(refused.isError).toBe(true);
  expect(refused.text).toContain(field);
});

it("goes on over stdio where the other program has stopped, and imports its file once", async () => {
  const home = newDataDir();
  const file = join(home, "memory.jsonl");
  writeFileSync(file, readFileSync(FILE));
  const env = { HOME: home, MEMORY_FILE_PATH: file };
  const start = () => startSession(env, { args: ["--compat", "server-memory"] });
  const first = await start();
  const lines = readFileSync(FILE, "utf8").trim().split("\n");
  const items = lines.map((line) => JSON.parse(line)) as { type: string }[];
  const of = (type: string) =>
    items.filter((each) => each.type === type).map(({ type: _, ...rest }) => rest as { name: string });
  const { data } = await first.call("read_graph");
  expect(data).toEqual({ entities: of("entity"), relations: of("relation") });
  await first.call("delete_entities", { entityNames: of("entity").map(({ name }) => name) });
  await first.client.close();
  const second = await start();
  expect((await second.call("read_graph")).data).toEqual({ entities: [], relations: [] });
  await second.client.close();
});
