import { openEmbedder } from "../../dist/src/embedding/open.js";
import { SERVICE } from "../../src/memory/ports/embedder.js";
import type { Stored } from "../../src/memory/ports/log.js";
import type { Scope } from "../../src/memory/ports/names.js";
import { newMemoryId } from "../../src/memory/requests/id.js";
import type { Storage } from "../../src/storage/storage.js";

/** Texts that are embedded and then appended together: as many as may wait for the model. */
const AT_ONCE = 256;

/** A text, and the namespace that gets it. */
export interface Filling {
  readonly scope: Scope;
  readonly text: string;
}

export interface Filled {
  readonly id: string;
  readonly createdAt: string;
}

/**
 * Writes memories to new namespaces by the log's adapter, with vectors of the bundled model, and returns them
 * in the order of the texts. A memory is what a store through a server would have made of its text.
 *
 * @throws Error when a number of a log is taken already.
 */
export async function fillLogs(storage: Storage, fillings: readonly Filling[]): Promise<Filled[]> {
  const embedder = await openEmbedder({ model: "bundled", modelsDir: "/nowhere", workers: 2 });
  const stored = async ({ text }: Filling): Promise<Stored> => {
    const id = newMemoryId();
    const embedding = await embedder.embed({ text, field: "text", owner: SERVICE });
    return { op: "store", opId: id, id, text, metadata: "{}", createdAtMs: Date.now(), ...embedding };
  };
  const filled = new Map<Filling, Filled>();
  try {
    for (const group of byScope(fillings)) {
      const logId = await storage.names.create((group[0] as Filling).scope);
      for (let at = 0; at < group.length; at += AT_ONCE) {
        const some = group.slice(at, at + AT_ONCE);
        const entries = await Promise.all(some.map(stored));
        const written = await storage.log.append({ logId, from: at + 1, entries });
        if (written !== some.length) throw new Error(`entry ${at + written + 1} of ${logId} exists already`);
        for (const [i, { id, createdAtMs }] of entries.entries())
          filled.set(some[i] as Filling, { id, createdAt: new Date(createdAtMs).toISOString() });
      }
    }
  } finally {
    await embedder.close();
  }
  return fillings.map((filling) => filled.get(filling) as Filled);
}

function byScope(fillings: readonly Filling[]): Filling[][] {
  const groups = new Map<string, Filling[]>();
  for (const filling of fillings) {
    const { accountId, namespace } = filling.scope;
    const name = `${accountId}:${namespace}`;
    const group = groups.get(name) ?? [];
    groups.set(name, group);
    group.push(filling);
  }
  return [...groups.values()];
}
