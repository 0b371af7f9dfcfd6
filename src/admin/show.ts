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
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? "").length)));
  return rows.map((row) =>
    row
      .map((each, i) => each.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
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
