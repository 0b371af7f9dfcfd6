/** Renders the little Markdown that the contract's comments use: paragraphs and `code`. */
export function Prose({ text }: { text: string }) {
  const paragraphs = text.split(/\n\s*\n/).filter((paragraph) => paragraph.trim() !== "");
  return paragraphs.map((paragraph) => (
    <p key={paragraph} className="prose">
      <Inline text={paragraph} />
    </p>
  ));
}

export function Inline({ text }: { text: string }) {
  // Every second part was between backticks.
  return text.split("`").map((part, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a fixed text never move
    return index % 2 === 1 ? <code key={index}>{part}</code> : part;
  });
}
