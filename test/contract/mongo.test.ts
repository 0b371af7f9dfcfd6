import { Binary, type Collection, MongoClient, type UpdateFilter } from "mongodb";
import { describe, expect, it } from "vitest";
import { OUR_FORMAT } from "../../src/storage/format.js";
import { openMongo } from "../../src/storage/mongo/open.js";
import { openTestMongo } from "../support/mongo/open.js";
import { CONTRACTS } from "./all.js";
import type { Harm, TestDatabase } from "./database.js";

interface HarmedEntry {
  readonly _id: string;
  readonly text?: string;
  readonly vector?: Binary;
}

const found = await openTestMongo();
const name = "kind" in found ? found.kind : found.reason;

async function makeMongo(): Promise<TestDatabase> {
  const server = await openTestMongo();
  if (!("uri" in server)) throw new Error(server.reason);
  const { uri, stop } = server;
  return {
    open: () => openMongo({ uri }),
    remove: stop,
    damage: async ({ logId, sequence, how }) => {
      const client = await MongoClient.connect(uri);
      const entries = client.db().collection<HarmedEntry>("log");
      const _id = `${logId}:${String(sequence).padStart(12, "0")}`;
      if (how === "remove") await entries.deleteOne({ _id });
      else await harm(entries, _id, how);
      await client.close();
    },
    setFormat: async (record) => {
      const client = await MongoClient.connect(uri);
      const meta = client.db().collection<{ _id: string }>("meta");
      await meta.deleteOne({ _id: "format" });
      if (record !== undefined) await meta.insertOne({ _id: "format", ...record });
      await client.close();
    },
  };
}

async function harm(entries: Collection<HarmedEntry>, _id: string, how: Harm): Promise<void> {
  const entry = await entries.findOne({ _id });
  const vector = Buffer.from(entry?.vector?.value() ?? []);
  vector[0] = (vector[0] ?? 0) ^ 1;
  const changed = {
    spoil: { $set: { vector: "spoilt" } },
    text: { $set: { text: `${entry?.text}.` } },
    vectors: { $set: { vector: new Binary(vector) } },
    tokens: { $inc: { tokens: 1 } },
    label: { $set: { externalId: "other" } },
    supersedes: { $set: { supersedes: [7] } },
    unsum: { $unset: { sums: "" } },
  };
  await entries.updateOne({ _id }, changed[how as keyof typeof changed] as UpdateFilter<HarmedEntry>);
}

describe.skipIf("reason" in found)(`MongoDB (${name})`, () => {
  for (const contract of CONTRACTS) contract("mongo", makeMongo);

  it("a database that 20 create at once gets one format, which all accept", async () => {
    const server = await openTestMongo();
    if (!("uri" in server)) throw new Error(server.reason);
    const opened = await Promise.all(Array.from({ length: 20 }, () => openMongo(server)));
    await Promise.all(opened.map((each) => each.close()));
    const client = await MongoClient.connect(server.uri);
    expect(await client.db().collection("meta").find().toArray()).toEqual([{ _id: "format", ...OUR_FORMAT }]);
    await client.close();
    await server.stop();
  });
});
