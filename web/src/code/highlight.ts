import type { LanguageFn } from "highlight.js";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import type { Language } from "./language.js";

const LANGUAGES: Readonly<Record<Language, LanguageFn>> = { bash, json, python, typescript };

/** A part of code that has one colour, or none. */
export interface Token {
  readonly text: string;
  /** Class of the style sheet `code.css`. */
  readonly className: string | undefined;
}

/** Longer code, such as a long answer, keeps one colour: marking it up would hold the page up. */
const CHARACTERS_MAX = 50_000;
/** A program that a shell reads from the lines up to END. */
const HERE_DOCUMENT = /^([\s\S]*<<'END'\n)([\s\S]*\n)(END[\s\S]*)$/;

/** Markup that highlight.js writes: spans, and text between them. */
const MARKUP = /<span class="([^"]*)">|<\/span>|([^<]+)/g;
const ESCAPED: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Divides code into its colours. Code in a shell's here-document has the language; what surrounds it is the shell's. */
export function highlight(code: string, language: Language): readonly Token[] {
  if (code.length > CHARACTERS_MAX) return [{ text: code, className: undefined }];
  const [, before, program, after] = HERE_DOCUMENT.exec(code) ?? [];
  if (before === undefined || program === undefined || after === undefined) return marked(code, language);
  return [...marked(before, "bash"), ...marked(program, language), ...marked(after, "bash")];
}

/** Reads what highlight.js marks up into tokens: the portal's policy lets no script hand HTML to the browser. */
function marked(code: string, language: Language): readonly Token[] {
  const { value } = hljs.highlight(code, { language, ignoreIllegals: true });
  const classes: string[] = [];
  const tokens: Token[] = [];
  for (const [, opened, text] of value.matchAll(MARKUP)) {
    if (opened !== undefined) classes.push(opened);
    else if (text === undefined) classes.pop();
    else tokens.push({ text: unescaped(text), className: classes.at(-1) });
  }
  return tokens;
}

function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ESCAPED[entity] as string);
}
