import { Binary, type Collection, MongoClient, type UpdateFilter } from "mongodb";
import { openMongo } from "../../src/storage/mongo/open.js";
import type { Missing, TestServer } from "../support/mongo/server.js";
import type { Harm, MakeDatabase } from "./database.js";

interface HarmedEntry {
  readonly _id: string;
  readonly text?: string;
  readonly vector?: Binary;
}

/** Makes new databases of MongoDB, or of what stands in for it. */
export function makeOn(openServer: () => Promise<TestServer | Missing>): MakeDatabase {
  return async () => {
    const server = await openServer();
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
