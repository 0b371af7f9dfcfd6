import { isUnavailable } from "../../errors.js";
import type { IndexFiles } from "../ports/index.js";
import type { Scope } from "../ports/names.js";
import type { DomainPorts } from "../ports/ports.js";

export interface IndexStatusPorts extends Pick<DomainPorts, "log" | "names" | "indexes"> {
  /** Logs that this process holds open. */
  readonly namespaces: { readonly open: { readonly logIds: readonly string[] } };
}

/** The state of one log's index. */
export interface IndexStatus {
  readonly logId: string;
  /** Namespace whose name points to the log; undefined for a log that was dropped or is being copied. */
  readonly scope: Scope | undefined;
  readonly isOpen: boolean;
  /** Number of memories in the log, superseded ones included; undefined if the database takes too long to count them. */
  readonly memories: number | undefined;
  /** Number of the log's last entry; 0 if it is empty. */
  readonly last: number;
  readonly files: IndexFiles;
}

/** Lists the logs, by id after the given one, that have index files here or are open. */
export async function indexStatus(
  ports: IndexStatusPorts,
  { after, limit }: { after: string; limit: number },
): Promise<IndexStatus[]> {
  const { indexes, names, log, namespaces } = ports;
  const open = new Set(namespaces.open.logIds);
  const all = new Set([...open, ...(await indexes.stored())]);
  const found: IndexStatus[] = [];
  for (const logId of [...all].sort()) {
    if (logId <= after) continue;
    if (found.length === limit) break;
    const isOpen = open.has(logId);
    const files = await indexes.measureFiles(logId);
    // A folder may be left without files.
    if (!isOpen && files.files === 0) continue;
    const measured = await log.measure({ logId }).catch((error) => {
      if (!isUnavailable(error)) throw error;
    });
    const scope = await names.scopeOf(logId);
    const last = (await log.last(logId))?.sequence ?? 0;
    found.push({ logId, scope, isOpen, memories: measured?.memories, last, files });
  }
  return found;
}
