import { PAGE_SIZE_MAX } from "../../../memory/requests/page.js";
import type { Json } from "./tool.js";

/** Characters of ASCII that count as one token. Prose has about four, ids and JSON about three. */
const CHARACTERS_PER_TOKEN = 3;
/** Tokens for what stands around the memories: braces, names, a note. */
const AROUND = 100;
/** Tokens that must be free for a part of a text to be worth showing. */
const PART_MIN = 100;

/**
 * Estimates the tokens of a text from above, whatever the model's tokenizer: a letter of another script may
 * be one by itself.
 */
export function tokensOf(text: string): number {
  let plain = 0;
  let others = 0;
  for (const character of text) {
    if (character <= "\u007f") plain += 1;
    else others += 1;
  }
  return Math.ceil(plain / CHARACTERS_PER_TOKEN) + others;
}

/** Rows of a page that have room in a budget. What is no page size stays: the RPC says what is wrong with it. */
export function pageSizeIn(tokensMax: number, tokensEach: number, asked: unknown): unknown {
  if (!Number.isInteger(asked) || Number(asked) > PAGE_SIZE_MAX) return asked;
  return Math.min(Number(asked), Math.floor(tokensMax / tokensEach));
}

/** A memory that an answer may show. */
export interface Showable extends Json {
  readonly id: string;
  readonly text: string;
  readonly metadata?: Json | undefined;
}

/** Memories that an answer has room for. */
export interface Fitted {
  readonly memories: readonly Json[];
  /** Ids of the memories that it has no room for. */
  readonly left_out: readonly string[] | undefined;
}

/**
 * Shows as many memories as the budget allows, in their order. The first that does not fit is cut; of it and
 * of those behind it the ids are given, so that they can be read by another call. `centreOf` names the code
 * point that matters most in a text. Only memories for which there is room are made ready by `show`.
 */
export function fitInto<M extends Json>(
  memories: readonly M[],
  tokensMax: number,
  { show, centreOf = () => 0 }: { show(memory: M): Showable; centreOf?(memory: Showable): number },
): Fitted {
  const fitted: Json[] = [];
  // What is not shown is named, and that takes room too.
  const ids = memories.map(({ id }) => tokensOf(JSON.stringify(id)) + 1);
  let free = tokensMax - AROUND - ids.reduce((sum, tokens) => sum + tokens, 0);
  for (const [at, each] of memories.entries()) {
    const memory = show(each);
    const tokens = tokensOf(JSON.stringify(memory)) + 1;
    free += ids[at] as number;
    if (tokens > free) {
      if (free >= PART_MIN) fitted.push(cut(memory, free, centreOf(memory)));
      break;
    }
    free -= tokens;
    fitted.push(memory);
  }
  const left = memories.slice(fitted.length).map(({ id }) => String(id));
  return { memories: fitted, left_out: left.length > 0 ? left : undefined };
}

/** Cuts a memory to a number of tokens: its metadata and neighbors go, and all of its text but a part. */
function cut(
  { metadata: _, before: __, after: ___, text, ...memory }: Showable,
  tokensMax: number,
  centre: number,
): Json {
  const rest = { ...memory, text: "", cut: true };
  const free = tokensMax - tokensOf(JSON.stringify(rest)) - 2;
  const points = [...text];
  const around = (reach: number) => points.slice(Math.max(0, centre - reach), centre + reach).join("");
  // The part grows to both sides, as long as it has room.
  let [reach, most] = [0, Math.max(centre, points.length - centre)];
  while (reach < most) {
    const middle = Math.ceil((reach + most) / 2);
    if (tokensOf(JSON.stringify(around(middle))) <= free) reach = middle;
    else most = middle - 1;
  }
  return { ...rest, text: around(reach) };
}
