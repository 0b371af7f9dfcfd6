import { endOfToken } from "./json-tokens.js";

/** Depth to which objects are read; what is deeper stays a list, and is deeper still: no metadata may be. */
const DEPTH_MAX = 128;

const [COLON, OBJECT, OBJECT_END] = [0x3a, 0x7b, 0x7d];

/** The last escape of a key, and what follows it. Some texts only look so: they are read in the longer way, too. */
const ESCAPED_KEY = /\\.[^"\\]*"\s*:/;

/**
 * Parses JSON, keys with escapes as well. Of those, `JSON.parse` of Node 24 takes some for another key that it
 * has read before, of this or of another text: after `"\\"` it takes `"\n"` for it (nodejs/node#63785).
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Most texts have no escape at all, which is seen much faster.
  if (!text.includes("\\") || !ESCAPED_KEY.test(text)) return value;
  return readObjects(JSON.parse(withListsForObjects(text)), 1);
}

/** Writes each object as one whose only key is empty, and has its keys and values as a list. */
function withListsForObjects(text: string): string {
  let written = "";
  let copied = 0;
  for (let at = 0; at < text.length; at = endOfToken(text, at)) {
    const char = text.charCodeAt(at);
    const sign = char === OBJECT ? '{"":[' : char === OBJECT_END ? "]}" : char === COLON ? "," : undefined;
    if (sign === undefined) continue;
    written += text.slice(copied, at) + sign;
    copied = at + 1;
  }
  return written + text.slice(copied);
}

function readObjects(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > DEPTH_MAX) return value;
  if (Array.isArray(value)) return value.map((each) => readObjects(each, depth + 1));
  const list = (value as { readonly "": readonly unknown[] })[""];
  const members: [unknown, unknown][] = [];
  for (let i = 0; i < list.length; i += 2) members.push([list[i], readObjects(list[i + 1], depth + 1)]);
  return Object.fromEntries(members);
}
