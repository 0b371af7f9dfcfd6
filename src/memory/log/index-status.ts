import { isUnavailable } from "../../errors.js";
import type { IndexFiles } from "../ports/index.js";
import type { Log } from "../ports/log.js";
import type { Scope } from "../ports/names.js";
import type { DomainPorts } from "../ports/ports.js";

export interface IndexStatusPorts extends Pick<DomainPorts, "log" | "names" | "indexes"> {
  /** Logs that this process holds open. */
  readonly namespaces: { readonly logIds: readonly string[] };
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
  const { indexes, namespaces } = ports;
  const open = new Set(namespaces.logIds);
  const all = new Set([...open, ...(await indexes.stored())]);
  const found: IndexStatus[] = [];
  for (const logId of [...all].sort()) {
    if (logId <= after) continue;
    if (found.length === limit) break;
    const status = await statusOf(ports, { logId, isOpen: open.has(logId) });
    // A folder may be left without files.
    if (status.isOpen || status.files.files > 0) found.push(status);
  }
  return found;
}

async function statusOf(
  { log, names, indexes }: IndexStatusPorts,
  { logId, isOpen }: Pick<IndexStatus, "logId" | "isOpen">,
): Promise<IndexStatus> {
  return {
    logId,
    scope: await names.scopeOf(logId),
    isOpen,
    memories: await countedIn(log, logId),
    last: (await log.last(logId))?.sequence ?? 0,
    files: await indexes.measureFiles(logId),
  };
}

async function countedIn(log: Log, logId: string): Promise<number | undefined> {
  try {
    return (await log.measure({ logId })).memories;
  } catch (error) {
    if (isUnavailable(error)) return undefined;
    throw error;
  }
}
