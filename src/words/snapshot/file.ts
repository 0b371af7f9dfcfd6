import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Mark } from "../../memory/ports/vectors.js";
import { Block, type BlockPlace } from "./block.js";
import { type BlockEntry, type Footer, footerBytes, readAt, readFooter } from "./footer.js";

/** Identifies a file by its folder and the log whose words it holds. */
export interface FileOf {
  readonly folder: string;
  readonly logId: string;
}

export const pathOf = ({ folder, logId }: FileOf) => join(folder, `${logId}.words`);
export const draftOf = (of: FileOf) => `${pathOf(of)}.draft`;

/** Returns the id of the log to which a file in the folder belongs. */
export function logIdIn(name: string): string {
  return name.replace(/\..*$/, "");
}

/**
 * Writes a draft of the file; `write` hands over its blocks, which are on the disk when this resolves.
 * It is kept only by `publish`.
 */
export async function writeDraft(
  of: FileOf,
  mark: Mark,
  write: (emit: (block: Block) => Promise<void>) => Promise<void>,
): Promise<void> {
  await mkdir(of.folder, { recursive: true, mode: 0o700 });
  const file = await open(draftOf(of), "w", 0o600);
  try {
    const nonce = randomBytes(16).toString("hex");
    const blocks: BlockEntry[] = [];
    let at = 0;
    await write(async (block) => {
      block.seal({ nonce, number: blocks.length });
      blocks.push({ at, bytes: block.bytes.length, ...spanOf(block) });
      at += block.bytes.length;
      await file.writeFile(block.bytes);
    });
    await file.writeFile(footerBytes({ logId: of.logId, mark, nonce, blocks }));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the draft the file that is kept. */
export function publish(of: FileOf): Promise<void> {
  return rename(draftOf(of), pathOf(of));
}

/** Erases the file, and a draft of it. */
export async function eraseFile(of: FileOf): Promise<void> {
  await rm(pathOf(of), { force: true });
  await rm(draftOf(of), { force: true });
}

/** Reads a file's blocks in their order; answers its mark. Throws if anything in it is in doubt. */
export async function readBlocks(of: FileOf, take: (block: Block) => Promise<void>): Promise<Mark> {
  const file = await open(pathOf(of), "r");
  try {
    const footer = await readFooter(file, of.logId);
    for (const [number, entry] of footer.blocks.entries()) {
      await take(Block.open(await readAt(file, entry.at, entry.bytes), { nonce: footer.nonce, number }));
    }
    const now = new Date();
    await utimes(pathOf(of), now, now);
    return footer.mark;
  } finally {
    await file.close();
  }
}

/** Reads the mark of a file. Throws if the footer is in doubt; the blocks are not read. */
export async function readMark(of: FileOf): Promise<Mark> {
  const file = await open(pathOf(of), "r");
  try {
    return (await readFooter(file, of.logId)).mark;
  } finally {
    await file.close();
  }
}

/** Selects those memories that are in the file. Throws if the file is in doubt. */
export async function holdsInFile(of: FileOf, sequences: readonly number[]): Promise<number[]> {
  const held: number[] = [];
  const asked = new Set(sequences);
  await eachTouched(of, { sequences, mode: "r" }, async (block) => {
    held.push(...sequencesIn(block).filter((sequence) => asked.has(sequence)));
  });
  return held;
}

/**
 * Overwrites memories in the file. If the process ends meanwhile, the block's hash is wrong, and the file is
 * in doubt. Throws if it is so already.
 */
export async function wipeInFile(of: FileOf, sequences: readonly number[]): Promise<void> {
  const wiped = new Set(sequences);
  await eachTouched(of, { sequences, mode: "r+" }, async (block, place, write) => {
    if (!sequencesIn(block).some((sequence) => wiped.has(sequence))) return;
    block.wipe(wiped);
    block.seal(place);
    await write();
  });
}

/** Reads the blocks that may have some of these memories. */
async function eachTouched(
  of: FileOf,
  { sequences, mode }: { readonly sequences: readonly number[]; readonly mode: "r" | "r+" },
  look: (block: Block, place: BlockPlace, write: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const file = await open(pathOf(of), mode);
  try {
    const footer = await readFooter(file, of.logId);
    for (const [number, entry] of touched(footer, sequences)) {
      const place = { nonce: footer.nonce, number };
      const block = Block.open(await readAt(file, entry.at, entry.bytes), place);
      await look(block, place, async () => {
        await file.write(block.bytes, 0, block.bytes.length, entry.at);
        await file.datasync();
      });
    }
  } finally {
    await file.close();
  }
}

/** Selects the blocks that may have some of these memories. Both are gone through once, in the log's order. */
function touched({ blocks }: Footer, sequences: readonly number[]): [number, BlockEntry][] {
  const inOrder = sequences.toSorted((a, b) => a - b);
  let next = 0;
  return [...blocks.entries()].filter(([, { first, last }]) => {
    while (next < inOrder.length && (inOrder[next] as number) < first) next++;
    return next < inOrder.length && (inOrder[next] as number) <= last;
  });
}

function spanOf(block: Block): { first: number; last: number } {
  return { first: block.memory(0).sequence, last: block.memory(block.memories - 1).sequence };
}

function sequencesIn(block: Block): number[] {
  const all = Array.from({ length: block.memories }, (_, i) => block.memory(i));
  return all.filter(({ wiped }) => !wiped).map(({ sequence }) => sequence);
}
