import { useQuery } from "@connectrpc/connect-query";
import { accounts, type Model } from "../api";

/** Tag of models that read many languages. */
const MANY = "mul";
/** Letters of each language that a model may be limited to; all others are written in Latin ones. */
const LETTERS: Readonly<Record<string, RegExp>> = { zh: /\p{Script=Han}/gu };
const LATIN = /\p{Script=Latin}/gu;

const names = new Intl.DisplayNames("en", { type: "language" });
const list = new Intl.ListFormat("en");

/** Returns the model that reads the texts; undefined until the server has told it. */
export function useModel(): Model | undefined {
  return useQuery(accounts.getAccount, {}).data?.model;
}

/** Names the languages that a model reads: `English`; undefined if they are unknown. */
export function languagesOf({ languages }: Model): string | undefined {
  if (languages.length === 0) return undefined;
  return list.format(languages.map((tag) => (tag === MANY ? "many languages" : (names.of(tag) ?? tag))));
}

/**
 * True if a text is mostly in letters of the model's languages. In others a model sees few and poor
 * tokens, and may find any two texts alike.
 */
export function isRead(text: string, { languages }: Model): boolean {
  if (languages.length === 0 || languages.includes(MANY)) return true;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const known = new Set(languages.map((tag) => LETTERS[tag] ?? LATIN));
  const read = [...known].reduce((sum, each) => sum + (text.match(each)?.length ?? 0), 0);
  return read * 2 >= letters;
}

/** Returns the score above which what a query finds is a strong match; undefined if the model cannot tell. */
export function useStrongScore(query: string): number | undefined {
  const model = useModel();
  return model && isRead(query, model) ? model.strongScore : undefined;
}
