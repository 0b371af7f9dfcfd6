import { describe, expect, it } from "vitest";
import { clientOf } from "../../src/storage/mongo/open.js";

describe("what MongoDB is asked for", () => {
  it.each([
    "",
    "w=1",
    "journal=false",
    "wtimeoutMS=1",
    "readConcernLevel=local",
    "readPreference=secondary",
    "readPreferenceTags=dc:ny",
  ])(
    "is what a majority holds on disk, from the primary, whatever the connection string says: %s",
    (query) => {
      const { db } = clientOf(`mongodb://localhost/a?${query}`);
      const { readConcern, writeConcern, readPreference } = db.collection("log");
      expect(readConcern).toMatchObject({ level: "majority" });
      expect(writeConcern).toMatchObject({ w: "majority", journal: true, wtimeoutMS: 4_000 });
      expect(readPreference).toMatchObject({ mode: "primary" });
      expect(readPreference?.tags).toBeUndefined();
    },
  );
});
