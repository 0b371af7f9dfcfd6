import MarkdownIt, { type Token } from "markdown-it";
import { openAnchors } from "./anchors.js";
import { codeBlock } from "./highlight.js";
import { escapeHtml } from "./html.js";

export interface Heading {
  readonly level: number;
  readonly text: string;
  readonly anchor: string;
}

/** Part of a page from one heading to the next, for the search. */
export interface Section {
  /** Heading of the section; undefined for what comes before the first one. */
  readonly heading: Heading | undefined;
  readonly text: string;
}

export interface Article {
  readonly html: string;
  /** Text of the first heading of the first level. */
  readonly title: string;
  /** The first paragraph. */
  readonly summary: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
}

/** Comment between paragraphs, such as those around tables that a program writes. */
const COMMENT = /^<!--.*?-->$/gms;

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });
const { rules } = markdown.renderer;
rules.fence = (tokens, index) => {
  const { content = "", info = "" } = tokens[index] ?? {};
  return codeBlock(content, info.trim());
};
rules.code_block = (tokens, index) => codeBlock(tokens[index]?.content ?? "", "");
// An address may begin a new line behind its scheme, so that it needs less room in a table.
rules.code_inline = (tokens, index) =>
  `<code>${escapeHtml(tokens[index]?.content ?? "").replace(/:\/\/(?=\w)/, "://<wbr>")}</code>`;
// Wide tables scroll on their own; what scrolls takes the focus, so that keyboards can scroll it.
rules.table_open = () => '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>\n';
rules.table_close = () => "</table></div>\n";

/** Renders Markdown; `resolve` says where each link and picture of it is. */
export function renderMarkdown(text: string, resolve: (href: string) => string): Article {
  const tokens = markdown.parse(text.replace(COMMENT, ""), {});
  const headings = nameHeadings(tokens);
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    rewrite(token, "href", resolve);
    rewrite(token, "src", resolve);
  }
  const sections = sectionsOf(tokens, headings);
  return {
    title: headings.find(({ level }) => level === 1)?.text ?? "",
    summary: textOf(tokens.find((_, index) => tokens[index - 1]?.type === "paragraph_open")),
    headings,
    sections,
    html: markdown.renderer.render(linkHeadings(tokens, headings), markdown.options, {}),
  };
}

function rewrite(token: Token, attribute: string, resolve: (href: string) => string): void {
  const found = token.attrs?.find(([name]) => name === attribute);
  if (found) found[1] = resolve(String(found[1]));
}

/** Gives each heading its anchor, and lists them in their order. */
function nameHeadings(tokens: readonly Token[]): readonly Heading[] {
  const nameOf = openAnchors();
  return tokens.flatMap((token, index) => {
    if (token.type !== "heading_open") return [];
    const text = textOf(tokens[index + 1]);
    const heading = { level: Number(token.tag.slice(1)), text, anchor: nameOf(text) };
    token.attrs = [...(token.attrs ?? []), ["id", heading.anchor]];
    return [heading];
  });
}

/** Puts a link to itself behind each heading but the page's title. */
function linkHeadings(tokens: Token[], headings: readonly Heading[]): Token[] {
  let next = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.type !== "heading_open") continue;
    const { level, anchor, text } = headings[next++] as Heading;
    const inline = tokens[index + 1];
    if (level === 1 || inline?.children === undefined || inline.children === null) continue;
    const link = new (token.constructor as typeof Token)("html_inline", "", 0);
    link.content = ` <a class="anchor" href="#${anchor}" aria-label="Link to “${escapeHtml(text)}”">#</a>`;
    inline.children.push(link);
  }
  return tokens;
}

/** Text of an inline token, without its markup. */
function textOf(token: Token | undefined): string {
  return (token?.children ?? [])
    .map(({ type, content }) => (type.endsWith("break") ? " " : content))
    .join("")
    .trim();
}

function sectionsOf(tokens: readonly Token[], headings: readonly Heading[]): readonly Section[] {
  const sections: { heading: Heading | undefined; parts: string[] }[] = [{ heading: undefined, parts: [] }];
  let next = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.type === "heading_open") sections.push({ heading: headings[next++], parts: [] });
    else if (tokens[index - 1]?.type === "heading_open") continue;
    else if (token.type === "inline") sections.at(-1)?.parts.push(textOf(token));
    else if (token.type === "fence") sections.at(-1)?.parts.push(token.content.trim());
  }
  return sections
    .map(({ heading, parts }) => ({ heading, text: parts.join("\n") }))
    .filter(({ heading, text }) => heading !== undefined || text !== "");
}
