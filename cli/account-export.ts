import { createHash } from "node:crypto";
import type { Recalld } from "../clients/typescript/src/index.js";
import { ACCOUNT_FORMAT, ACCOUNT_VERSION } from "./import/readers/account.js";

/** Names that are listed at a time. */
const PAGE_SIZE = 100;

export interface AccountExport {
  /** Beginning of the names; all namespaces of the account when left out. */
  readonly prefix: string | undefined;
  readonly includeVectors: boolean | undefined;
  /** Called when the export of a namespace begins, with two lines beside those of its memories. */
  onNamespace(): void;
}

/**
 * Writes out the namespaces that a key may read, as lines without their ends: what it is, the export of each
 * namespace as ExportMemories gives it, in the order of their names' bytes, and the number of namespaces and of
 * their lines with the SHA-256 of all lines before. Each namespace is as of a position of its own.
 */
export async function* accountLines(
  server: Recalld,
  { prefix, includeVectors, onNamespace }: AccountExport,
): AsyncGenerator<string> {
  const hash = createHash("sha256");
  const hashed = (line: string) => {
    hash.update(line).update("\n");
    return line;
  };
  const about = { prefix: prefix ?? "", exported_at: new Date().toISOString() };
  yield hashed(JSON.stringify({ format: ACCOUNT_FORMAT, version: ACCOUNT_VERSION, ...about }));
  let [namespaces, lines] = [0, 0];
  for await (const { namespace } of server.namespaces({ prefix, pageSize: PAGE_SIZE })) {
    namespaces++;
    onNamespace();
    for await (const line of server.export({ namespace, includeVectors }).lines()) {
      lines++;
      yield hashed(line);
    }
  }
  yield JSON.stringify({ namespaces, lines, sha256: hash.digest("hex") });
}
