import { MongoClient } from "mongodb";
import { describe, expect, it } from "vitest";
import { OUR_FORMAT } from "../../src/storage/format.js";
import { openMongo } from "../../src/storage/mongo/open.js";
import { openTestMongo } from "../support/mongo/open.js";
import { CONTRACTS } from "./all.js";
import { makeOn } from "./mongo-database.js";

const found = await openTestMongo();
const name = "kind" in found ? found.kind : found.reason;

describe.skipIf("reason" in found)(`MongoDB (${name})`, () => {
  for (const contract of CONTRACTS) contract("mongo", makeOn(openTestMongo));

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
