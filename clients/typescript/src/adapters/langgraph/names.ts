import { RecalldError } from "../../errors.js";

/**
 * Characters of a label that a namespace's name cannot have where they stand: the separator and the escape
 * themselves, control characters, and white space at either end.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a name may not have.
const UNFIT = /[%/\u0000-\u001f\u007f-\u009f]|^[\s\ufeff]|[\s\ufeff]$/gu;

/** Names the recalld namespace of a LangGraph path: `["users", "42"]` below the root `app` is `app/users/42`. */
export function nameOf(root: string, path: readonly string[]): string {
  return [...(root === "" ? [] : [root]), ...path.map(escapedLabel)].join("/");
}

/** Returns the path that a namespace's name stands for; undefined if this store does not name so. */
export function pathOf(root: string, name: string): string[] | undefined {
  const start = root === "" ? "" : `${root}/`;
  if (!name.startsWith(start)) return undefined;
  try {
    const path = name.slice(start.length).split("/").map(decodeURIComponent);
    return nameOf(root, path) === name && !path.includes("") ? path : undefined;
  } catch {
    // A name with a bare percent sign is not one of this store's.
    return undefined;
  }
}

/** Makes the external id of a key. A key may have control characters, an external id may not. */
export function idOf(key: string): string {
  if (key === "") throw new RecalldError("invalid_argument", "key is empty", { field: "key" });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what an id may not have.
  return key.replace(/[%\u0000-\u001f\u007f-\u009f]/gu, percent);
}

/** Returns the key of an external id; undefined if this store did not make it. */
export function keyOf(id: string): string | undefined {
  try {
    const key = decodeURIComponent(id);
    return idOf(key) === id ? key : undefined;
  } catch {
    return undefined;
  }
}

function escapedLabel(label: string): string {
  return label.replace(UNFIT, percent);
}

function percent(character: string): string {
  const bytes = new TextEncoder().encode(character);
  return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}
