import type { Recalld } from "./client.js";
import { insertAfter, replaceOnce, snippet } from "./memory-tool/edit.js";
import { MemoryFiles } from "./memory-tool/files.js";
import { checkDirectory, drop, move } from "./memory-tool/move.js";
import { checkFilePath, checkPath, isWithin, MemoryToolError } from "./memory-tool/paths.js";
import { view } from "./memory-tool/view.js";

export { MemoryToolError } from "./memory-tool/paths.js";

/** One call of the tool, as a model makes it. */
export type MemoryToolCommand =
  | { readonly command: "view"; readonly path: string; readonly view_range?: readonly number[] | null }
  | { readonly command: "create"; readonly path: string; readonly file_text: string }
  | {
      readonly command: "str_replace";
      readonly path: string;
      readonly old_str: string;
      readonly new_str?: string;
    }
  | {
      readonly command: "insert";
      readonly path: string;
      readonly insert_line: number;
      readonly insert_text: string;
    }
  | { readonly command: "delete"; readonly path: string }
  | { readonly command: "rename"; readonly old_path: string; readonly new_path: string };

type Command<C extends MemoryToolCommand["command"]> = Extract<MemoryToolCommand, { command: C }>;

/** Handlers in the shape that `betaMemoryTool` of `@anthropic-ai/sdk` takes. Each answers for the model. */
export type MemoryToolHandlers = {
  [C in MemoryToolCommand["command"]]: (command: Command<C>) => Promise<string>;
};

export interface MemoryToolOptions {
  /** Namespace of the files; nothing else should be stored there. */
  readonly namespace: string;
}

/**
 * Keeps the files of Anthropic's memory tool (`memory_20250818`) in a namespace, a memory for each. They can
 * be recalled by meaning like all memories. What a model does wrong is thrown as a MemoryToolError, whose
 * message is for the model.
 */
export function memoryToolHandlers(recalld: Recalld, { namespace }: MemoryToolOptions): MemoryToolHandlers {
  const files = new MemoryFiles(recalld, namespace);
  return {
    view: async ({ path, view_range }) => view(await files.list(), checkPath(path), view_range ?? undefined),
    create: ({ path, file_text }) => create(files, path, file_text),
    str_replace: ({ path, old_str, new_str = "" }) => replace(files, path, { old: old_str, by: new_str }),
    insert: async ({ path, insert_line, insert_text }) => {
      await files.change(checkFilePath(path, "edit"), (text) => insertAfter(text, insert_line, insert_text));
      return `The file ${path} has been edited.`;
    },
    delete: ({ path }) => drop(files, path),
    rename: ({ old_path, new_path }) => move(files, old_path, new_path),
  };
}

async function create(files: MemoryFiles, given: string, text: string): Promise<string> {
  const path = checkFilePath(given, "create");
  const all = await files.list();
  checkDirectory(all, path);
  if (all.some((each) => isWithin(each.path, path))) throw new MemoryToolError(`${given} is a directory`);
  await files.create(path, text);
  return `File created successfully at: ${given}`;
}

async function replace(
  files: MemoryFiles,
  given: string,
  { old, by }: { old: string; by: string },
): Promise<string> {
  const path = checkFilePath(given, "edit");
  let before = "";
  const edited = await files.change(path, (text) => {
    before = text;
    return replaceOnce(path, text, { old, by });
  });
  return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet(edited, by, before)}`;
}
