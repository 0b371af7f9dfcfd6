/**
 * Returns a function that names the sections of one page as GitHub does, so that links between the Markdown
 * files also work there: `"What's \`this\`?"` is `whats-this`, and `whats-this-1` when it comes again.
 */
export function openAnchors(): (heading: string) => string {
  const taken = new Set<string>();
  return (heading) => {
    const name = heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, "")
      .replaceAll(" ", "-");
    let anchor = name;
    for (let again = 1; taken.has(anchor); again++) anchor = `${name}-${again}`;
    taken.add(anchor);
    return anchor;
  };
}
