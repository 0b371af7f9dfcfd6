import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import http from "highlight.js/lib/languages/http";
import ini from "highlight.js/lib/languages/ini";
import json from "highlight.js/lib/languages/json";
import protobuf from "highlight.js/lib/languages/protobuf";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import yaml from "highlight.js/lib/languages/yaml";
import { escapeHtml } from "./html.js";

const LANGUAGES = { bash, http, ini, json, protobuf, python, typescript, yaml };
const OTHER_NAMES: Readonly<Record<string, string>> = {
  sh: "bash",
  js: "typescript",
  ts: "typescript",
  py: "python",
  toml: "ini",
  yml: "yaml",
  proto: "protobuf",
};

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Beyond this a file is data, and marking it up would make it several times as long. */
const CHARACTERS_MAX = 50_000;

/** Marks up code with classes; a language that is not known is left as text. */
export function highlight(code: string, name: string): string {
  const language = OTHER_NAMES[name] ?? name;
  if (!(language in LANGUAGES) || code.length > CHARACTERS_MAX) return escapeHtml(code);
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

/** Code that scrolls sideways, so keyboards must be able to reach it. */
export function codeBlock(code: string, language: string): string {
  const marked = highlight(code, language);
  return `<figure class="code"><pre tabindex="0"><code>${marked}</code></pre></figure>\n`;
}
