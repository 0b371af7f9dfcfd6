import { setImmediate as nextTurn } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { Guarded } from "./guarded.js";
import type { Answered, Asked, Request, RestoredFile } from "./requests.js";
import { Block } from "./snapshot/block.js";
import { type FileOf, readBlocks, writeDraft } from "./snapshot/file.js";

// The thread of all large indexes. Their work takes turns in it, a few milliseconds each.

const indexes = new Map<number, Guarded>();

async function restore(index: Guarded, of: FileOf): Promise<RestoredFile> {
  try {
    const read: { mark?: Awaited<ReturnType<typeof readBlocks>> } = {};
    const wiped = await index.load(async (take) => {
      read.mark = await readBlocks(of, take);
    });
    return read.mark === undefined ? undefined : { ...read.mark, wiped };
  } catch {
    // A missing or damaged file is rebuilt from the log.
    return undefined;
  }
}

async function answer(index: Guarded, request: Request): Promise<unknown> {
  switch (request.op) {
    case "addBlock":
      return index.addBlock(Block.take(request.bytes)).then(() => undefined);
    case "add":
      return index.add(request.rows);
    case "remove":
      return index.remove(request.sequences);
    case "search":
      return index.search(request);
    case "score":
      return index.score(request.query, request.sequences);
    case "sample":
      return index.sample();
    case "snapshot":
      return writeDraft(request.of, request.mark, (emit) => index.eachBlock(emit));
    case "restore":
      return restore(index, request.of);
    case "close":
      return undefined;
  }
}

async function reply({ id, index: number, request }: Asked): Promise<void> {
  const index = indexes.get(number) ?? new Guarded(() => nextTurn());
  indexes.set(number, index);
  if (request.op === "close") indexes.delete(number);
  const answered: Partial<Answered> = await answer(index, request).then(
    (value) => ({ value }),
    (error: unknown) => ({ error: String(error) }),
  );
  parentPort?.postMessage({ id, ...answered, size: index.size, bytes: index.bytes });
}

parentPort?.on("message", (asked: Asked) => void reply(asked));
