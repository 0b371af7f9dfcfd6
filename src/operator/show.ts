type Row = Readonly<Record<string, unknown>>;

/** Formats an answer for people: a table for a list, a line for each field of a single item. */
export function show(answer: unknown): string {
  if (Array.isArray(answer)) return answer.length === 0 ? "none" : table(answer as Row[]);
  if (typeof answer !== "object" || answer === null) return String(answer);
  const entries = Object.entries(answer);
  const width = Math.max(...entries.map(([name]) => name.length)) + 2;
  return entries.map(([name, value]) => `${name.padEnd(width)}${cell(value)}`).join("\n");
}

function table(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  const widths = names.map((_, i) => Math.max(...lines.map((line) => (line[i] ?? "").length)));
  return lines
    .map((line) =>
      line
        .map((each, i) => each.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Escapes control characters in users' data, so that it cannot control the terminal. */
function cell(value: unknown): string {
  if (value === null || value === "") return "-";
  if (typeof value === "object") return JSON.stringify(value);
  return String(value).replace(/\p{C}/gu, "\u{fffd}");
}
