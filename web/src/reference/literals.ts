const LINE_MAX = 70;

/** Fields whose keys are the user's own. */
const OWN_KEYS = new Set(["metadata", "filter"]);

export function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Writes a value as TypeScript, in camelCase; over several lines if it is long. */
export function typeScript(value: unknown, isOwn = false): string {
  if (Array.isArray(value)) return `[${value.map((item) => typeScript(item, isOwn)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, item]) => {
    const name = isOwn ? key : camel(key);
    return `${/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)}: ${typeScript(item, isOwn || OWN_KEYS.has(key))}`;
  });
  const line = `{ ${fields.join(", ")} }`;
  if (fields.length === 0) return "{}";
  return line.length <= LINE_MAX ? line : `{\n${fields.map((field) => `  ${indented(field)},\n`).join("")}}`;
}

/** Writes a value as Python. */
export function python(value: unknown): string {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null) return "None";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${python(item)}`);
  return `{${fields.join(", ")}}`;
}

/** Writes the arguments of a call in Python; over several lines if they are long. */
export function keywords(values: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(values).map(([key, value]) => `${key}=${python(value)}`);
  const line = fields.join(", ");
  if (line.length <= LINE_MAX) return line;
  return `\n${fields.map((field) => `    ${field},\n`).join("")}`;
}

export function indented(code: string, by = "  "): string {
  return code.replaceAll("\n", `\n${by}`);
}
