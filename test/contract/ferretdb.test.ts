import { Collection } from "mongodb";
import { afterAll, describe, vi } from "vitest";
import { startFerretdb } from "../support/mongo/ferretdb.js";
import { newDatabase } from "../support/mongo/open.js";
import { accountsContract } from "./accounts.js";
import { CONTRACTS } from "./all.js";
import { historiesContract } from "./histories.js";
import { keysContract } from "./keys.js";
import { measureContract } from "./measure.js";
import { makeOn } from "./mongo-database.js";
import { sessionsContract } from "./sessions.js";
import { slicesContract } from "./slices.js";

/** Suites of what FerretDB 1 does otherwise than MongoDB, each with the reason. */
const IN_ARRAYS = "it has no arrayFilters, and no $elemMatch of several fields (issue 730)";
const SUMS = "of the sums of a $group all but the first are 0 (issue 4616)";
const SKIPPED = new Map([
  [accountsContract, IN_ARRAYS],
  [keysContract, IN_ARRAYS],
  [sessionsContract, IN_ARRAYS],
  [measureContract, SUMS],
  [historiesContract, SUMS],
  [
    slicesContract,
    "each find decodes a whole collection, which takes longer than a call may with so many MB",
  ],
]);

// Indexes that are partial (issue 2448) or expire are errors there. A plain index finds the same, and what should
// have expired is no answer of ours either way.
const { createIndex } = Collection.prototype;
vi.spyOn(Collection.prototype, "createIndex").mockImplementation(function (
  this: Collection,
  keys,
  { expireAfterSeconds: _, partialFilterExpression: __, ...options } = {},
) {
  return createIndex.call(this, keys, options, undefined);
});

const server = await startFerretdb();
const name = "kind" in server ? server.kind : server.reason;
afterAll(async () => {
  if ("stop" in server) await server.stop();
});

describe.skipIf("reason" in server)(name, () => {
  const make = makeOn(async () => ("uri" in server ? newDatabase(server) : server));
  for (const contract of CONTRACTS) {
    const reason = SKIPPED.get(contract);
    if (reason === undefined) contract("ferretdb", make);
    else describe.skip(`skipped: ${reason}`, () => contract("ferretdb", make));
  }
});
