type Row = Readonly<Record<string, unknown>>;

/** Formats an answer for people: a table for several records, a line for each field of one. */
export function show(answer: unknown): string {
  if (Array.isArray(answer)) return answer.length === 0 ? "none" : table(answer as Row[]);
  if (typeof answer !== "object" || answer === null) return String(answer);
  const entries = Object.entries(answer);
  const width = Math.max(...entries.map(([name]) => name.length)) + 2;
  return entries.map(([name, value]) => `${name.padEnd(width)}${cell(value)}`).join("\n");
}

function table(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {});
  return inColumns([names, ...rows.map((row) => names.map((name) => cell(row[name])))]).join("\n");
}

/** Lays out rows of cells as lines whose columns stand below each other. */
export function inColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => widthOf(row[i] ?? ""))));
  return rows.map((row) =>
    row
      .map((each, i) => each + " ".repeat(Math.max(0, (widths[i] ?? 0) - widthOf(each))))
      .join("  ")
      .trimEnd(),
  );
}

const GRAPHEMES = new Intl.Segmenter();
/** Characters that terminals show in two cells: emoji, and those of East Asia. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u;

/** Number of cells in which a terminal shows a text. */
function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let cells = 0;
  for (const { segment } of GRAPHEMES.segment(text)) cells += WIDE.test(segment) ? 2 : 1;
  return cells;
}

/** Formats a value without control characters: users' texts must not control the terminal. */
function cell(value: unknown): string {
  if (value === null || value === "") return "-";
  if (typeof value === "object") return JSON.stringify(value);
  return String(value).replace(/\p{C}/gu, "\u{fffd}");
}

/** A text without the characters that could change a terminal or turn its lines around; it is not shortened. */
export function printable(value: unknown): string {
  return String(value ?? "").replace(/(?![\n\t])[\p{Cc}\p{Bidi_C}]/gu, "�");
}
