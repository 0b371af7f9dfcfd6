import { describe, expect, it } from "vitest";
import { OUR_FORMAT } from "../../src/storage/format.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { anAccount } from "./samples.js";

/** Records of other formats, and what the refusal says of them; undefined for a database without a record. */
export const OTHER_FORMATS = {
  "of the first format": {
    record: { format: { version: 1, readersMin: 1, program: "0.1.0" }, revision: 1 },
    says: "is of an earlier format;",
  },
  "without a format": { record: undefined, says: "is of an earlier format;" },
  "of an earlier number": {
    record: { format: 1, program: "0.1.0" },
    says: "is of format 1, by recalld 0.1.0;",
  },
  "of a newer number": {
    record: { format: 7, program: "9.9.9" },
    says: "is of format 7, by recalld 9.9.9;",
  },
};

/** Contract of opening a database: it has the format of this program, or is refused. */
export function formatsContract(name: string, make: MakeDatabase): void {
  describe(`format: ${name}`, () => {
    const used = useDatabase(make);

    it.each(Object.entries(OTHER_FORMATS))(
      "a database %s is refused, and left as it is",
      async (_, other) => {
        const account = anAccount();
        await used.storage.accounts.create(account);
        await used.storage.close();
        await used.database.setFormat(other.record);
        for (let i = 0; i < 2; i++) {
          const error = await used.database.open().catch((refused) => refused);
          expect(error).toMatchObject({ code: "failed_precondition" });
          expect(error.message).toContain(other.says);
          expect(error.message).toMatch(/^the database .* \(recalld export\).* \(recalld import\)$/);
        }
        await used.database.setFormat(OUR_FORMAT);
        used.storage = await used.database.open();
        expect(await used.storage.accounts.find(account.id)).toEqual(account);
      },
    );
  });
}
