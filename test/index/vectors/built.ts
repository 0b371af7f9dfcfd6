import { rmSync } from "node:fs";
import { yieldToEventLoop } from "../../../src/concurrency/yield-to-event-loop.js";
import { LogFiles } from "../../../src/index/log-files.js";
import { openIndexes } from "../../../src/index/open.js";
import type { OpenIndex, UsearchOptions } from "../../../src/index/vectors/usearch.js";
import type { Mark } from "../../../src/memory/ports/index.js";
// Worker threads run compiled code only, which `npm test` compiles first.
import { openUsearch as openBuilt } from "../../../dist/src/index/vectors/usearch.js";

export { openBuilt as openUsearch };

/** Vectors with their log's files, as an index has them beside words and fields. */
export interface VectorsWithFiles extends Omit<OpenIndex, "restore"> {
  onLost: () => void;
  restore(): Promise<(Mark & { readonly wiped: readonly number[] }) | undefined>;
}

export type VectorsOptions = Omit<UsearchOptions, "yieldNow"> & {
  readonly folder: string;
  readonly closedBytesMax?: number;
};

/** Opens vectors without words and fields. The mark of a log's entry is its number. */
export function openVectors({ folder, closedBytesMax, ...options }: VectorsOptions) {
  const usearch = openBuilt({ ...options, yieldNow: yieldToEventLoop });
  const troubles: unknown[] = [];
  const onTrouble = (error: unknown) => void troubles.push(error);
  const indexes = openIndexes({
    vectors: usearch,
    folder,
    closedBytesMax,
    clock: { yield: yieldToEventLoop },
    onTrouble,
  });
  const opened = new Map<string, VectorsWithFiles>();
  const open = (logId: string): VectorsWithFiles => {
    const files = new LogFiles({
      folder: `${folder}/${logId}`,
      logId,
      yieldNow: yieldToEventLoop,
      quietMs: 5,
      onTrouble,
    });
    const part = usearch.open(logId, files);
    const index: VectorsWithFiles = Object.assign(Object.create(part) as OpenIndex, {
      onLost: () => {},
      restore: async () => {
        const restored = await part.restore(await files.find());
        await files.keep(restored.files);
        const { upto, removed } = restored;
        return upto === 0 ? undefined : { sequence: upto, opId: `op${upto}`, wiped: removed };
      },
      reset: async () => {
        await part.reset();
        await files.reset();
      },
      add: (rows: Parameters<OpenIndex["add"]>[0]) => {
        const sequence = rows.at(-1)?.sequence ?? 0;
        files.applied = { sequence, opId: `op${sequence}` };
        return part.add(rows);
      },
      close: async () => {
        await part.close();
        await files.close({ keeps: true });
        opened.delete(logId);
      },
    });
    files.onLost = () => index.onLost();
    opened.set(logId, index);
    return bound(index, part);
  };
  return {
    open,
    openUnsaved: (logId: string) => usearch.open(logId),
    discard: (logId: string) => indexes.discard(logId),
    wipe: async (logId: string, sequences: readonly number[]) => {
      const index = opened.get(logId);
      await (index === undefined ? indexes.wipe(logId, sequences) : index.remove(sequences));
    },
    holds: (logId: string, sequences: readonly number[]) => indexes.holds(logId, sequences),
    stored: () => indexes.stored(),
    measureFiles: (logId: string) => indexes.measureFiles(logId),
    measureRecall: (logId: string) => indexes.measureRecall(logId),
    erase: () => rmSync(folder, { recursive: true, force: true }),
    close: () => usearch.close(),
    troubles,
  };
}

/** Lets all that was not replaced run on the part itself, whose private fields a copy lacks. */
function bound(index: VectorsWithFiles, part: OpenIndex): VectorsWithFiles {
  return new Proxy(index, {
    get: (target, name) => {
      if (Object.hasOwn(target, name)) return Reflect.get(target, name);
      const value = Reflect.get(part, name, part);
      return typeof value === "function" ? value.bind(part) : value;
    },
  });
}
