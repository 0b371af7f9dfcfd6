import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
// Worker threads run compiled code only, which `npm test` compiles first.
import { openUsearch as openBuilt } from "../../../dist/src/index/vectors/usearch.js";
import { systemClock } from "../../../src/concurrency/clock.js";
import { LogFiles } from "../../../src/index/log-files.js";
import { openIndexes } from "../../../src/index/open.js";
import type { Usearch, UsearchOptions } from "../../../src/index/vectors/usearch.js";
import type { Mark } from "../../../src/memory/ports/index.js";

/** The compiled function. To the compiler, its classes are others than those of the sources. */
export const openUsearch = openBuilt as unknown as (options: UsearchOptions) => Usearch;

type OpenIndex = ReturnType<Usearch["open"]>;

/** Vectors with their log's files, as an index has them beside words and fields. */
export type VectorsWithFiles = Omit<OpenIndex, "restore"> & {
  onLost: () => void;
  restore(): Promise<(Mark & { readonly wiped: readonly number[] }) | undefined>;
};

export type VectorsOptions = Omit<UsearchOptions, "clock"> & {
  readonly folder: string;
  readonly closedBytesMax?: number;
};

/** Opens vectors without words and fields. The mark of a log's entry is its number. */
export function openVectors({ folder, closedBytesMax, ...options }: VectorsOptions) {
  const usearch = openUsearch({ ...options, clock: systemClock });
  const troubles: unknown[] = [];
  const onTrouble = (error: unknown) => void troubles.push(error);
  const indexes = openIndexes({
    vectors: usearch,
    folder,
    closedBytesMax,
    clock: systemClock,
    onTrouble,
  });
  const opened = new Map<string, VectorsWithFiles>();
  const open = (logId: string): VectorsWithFiles => {
    const files = new LogFiles({
      folder: join(folder, logId),
      logId,
      quietMs: 5,
      onTrouble,
    });
    const part = usearch.open(logId, files);
    let isClosed = false;
    const index: VectorsWithFiles = Object.assign(Object.create(part) as OpenIndex, {
      onLost: () => {},
      restore: async () => {
        const upto = await part.restore(await files.find());
        if (isClosed) return undefined;
        const { removed } = await files.eraseOthers();
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
        isClosed = true;
        await part.close();
        await files.close({ retainFiles: true });
        opened.delete(logId);
      },
    });
    files.onLost = () => index.onLost();
    const whole = bound(index, part);
    opened.set(logId, whole);
    return whole;
  };
  return {
    open,
    openUnsaved: (logId: string) => usearch.open(logId, new LogFiles({ logId, onTrouble })),
    discard: (logId: string) => indexes.discard(logId),
    wipe: async (logId: string, sequences: readonly number[]) => {
      const index = opened.get(logId);
      await (index === undefined ? indexes.wipe(logId, sequences) : index.remove(sequences));
    },
    holds: (logId: string, sequences: readonly number[]) => indexes.holds(logId, sequences),
    stored: () => indexes.stored(),
    measureFiles: (logId: string) => indexes.measureFiles(logId),
    countUnusable: (logId: string) => indexes.countUnusable(logId),
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

/** Lists the paths of a log's files, in the order of their names. */
export function filesIn(folder: string, logId = "i1"): string[] {
  const own = join(folder, logId);
  if (!existsSync(own)) return [];
  return readdirSync(own)
    .sort()
    .map((name) => join(own, name));
}
