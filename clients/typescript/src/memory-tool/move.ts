import type { MemoryFile, MemoryFiles } from "./files.js";
import { checkFilePath, isWithin, MemoryToolError } from "./paths.js";

/** Deletes a file, or a directory with all that it holds. */
export async function drop(files: MemoryFiles, given: string): Promise<string> {
  const path = checkFilePath(given, "delete");
  await files.remove(found(await files.list(), path));
  return `Successfully deleted ${given}`;
}

/** Gives a file or a directory another path: each file is stored anew, and then the old one deleted. */
export async function move(files: MemoryFiles, givenFrom: string, givenTo: string): Promise<string> {
  const from = checkFilePath(givenFrom, "rename");
  const to = checkFilePath(givenTo, "rename");
  const all = await files.list();
  const moved = found(all, from);
  if (isWithin(to, from)) throw new MemoryToolError(`Cannot rename ${givenFrom} to a path within itself`);
  checkFree(all, to, givenTo);
  // Each is there twice for a moment, and never not at all.
  for (const file of moved) {
    await files.create(to + file.path.slice(from.length), file.text);
    await files.remove([file]);
  }
  return `Successfully renamed ${givenFrom} to ${givenTo}`;
}

/** Refuses a path that exists, or one whose directory is a file. */
function checkFree(files: readonly MemoryFile[], path: string, given: string): void {
  if (files.some((each) => each.path === path || isWithin(each.path, path))) {
    throw new MemoryToolError(`The destination ${given} already exists`);
  }
  checkDirectory(files, path);
}

/** Refuses a path below a file. */
export function checkDirectory(files: readonly MemoryFile[], path: string): void {
  const file = files.find((each) => isWithin(path, each.path));
  if (file !== undefined) throw new MemoryToolError(`The path ${file.path} is a file, not a directory.`);
}

function found(files: readonly MemoryFile[], path: string): MemoryFile[] {
  const here = files.filter((each) => each.path === path || isWithin(each.path, path));
  if (here.length === 0) throw new MemoryToolError(`The path ${path} does not exist`);
  return here;
}
