import type { LanguageFn } from "highlight.js";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import type { Language } from "./language";

const LANGUAGES: Readonly<Record<Language, LanguageFn>> = { bash, json, python, typescript };

/** A part of code that has one colour, or none. */
export interface Piece {
  readonly text: string;
  /** Class of the style sheet `code.css`. */
  readonly className?: string;
}

/** Longer code, such as a long answer, keeps one colour: marking it up would hold the page up. */
const CHARACTERS_MAX = 50_000;
/** A program that a shell reads from the lines up to END. */
const HERE_DOCUMENT = /^([\s\S]*<<'END'\n)([\s\S]*\n)(END[\s\S]*)$/;

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Divides code into its colours. Code in a shell's here-document has the language; what surrounds it is the shell's. */
export function highlight(code: string, language: Language): readonly Piece[] {
  if (code.length > CHARACTERS_MAX) return [{ text: code }];
  const [, before, program, after] = HERE_DOCUMENT.exec(code) ?? [];
  if (before === undefined || program === undefined || after === undefined) return marked(code, language);
  return [...marked(before, "bash"), ...marked(program, language), ...marked(after, "bash")];
}

function marked(code: string, language: Language): readonly Piece[] {
  const { value } = hljs.highlight(code, { language, ignoreIllegals: true });
  // What is parsed this way loads and runs nothing; only its text and classes are used.
  return piecesOf(new DOMParser().parseFromString(`<body>${value}`, "text/html").body);
}

function piecesOf(parent: Element, className?: string): Piece[] {
  return [...parent.childNodes].flatMap((node) =>
    node instanceof Element
      ? piecesOf(node, node.className)
      : [{ text: node.textContent ?? "", ...(className && { className }) }],
  );
}
