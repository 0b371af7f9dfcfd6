import { MongoClient } from "mongodb";
import { describe } from "vitest";
import { openMongo } from "../../src/storage/mongo/open.js";
import { openTestMongo } from "../support/mongo/open.js";
import { CONTRACTS } from "./all.js";
import type { TestDatabase } from "./database.js";

const found = await openTestMongo();
const name = "kind" in found ? found.kind : found.reason;

async function makeMongo(): Promise<TestDatabase> {
  const server = await openTestMongo();
  if (!("uri" in server)) throw new Error(server.reason);
  const { uri, stop } = server;
  return {
    open: () => openMongo({ uri }),
    remove: stop,
    damage: async ({ incarnation, sequence, how }) => {
      const client = await MongoClient.connect(uri);
      const entries = client.db().collection<{ _id: string }>("log");
      const _id = `${incarnation}:${String(sequence).padStart(12, "0")}`;
      if (how === "remove") await entries.deleteOne({ _id });
      else await entries.updateOne({ _id }, { $set: { vector: "spoilt" } });
      await client.close();
    },
  };
}

describe.skipIf("reason" in found)(`MongoDB (${name})`, () => {
  for (const contract of CONTRACTS) contract("mongo", makeMongo);
});
