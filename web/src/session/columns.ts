const STORED_AS = "recalld.columns";
/** Namespaces whose columns are remembered, those chosen last. */
const NAMESPACES_MAX = 50;

/** Columns that were chosen for a namespace's list in this browser; undefined if none were. */
export function rememberedColumns(namespace: string): readonly string[] | undefined {
  return new Map(stored()).get(namespace);
}

export function rememberColumns(namespace: string, columns: readonly string[]): void {
  const others = stored().filter(([name]) => name !== namespace);
  write(JSON.stringify([...others, [namespace, columns]].slice(-NAMESPACES_MAX)));
}

/** Forgets all choices: their names are the user's. */
export function forgetColumns(): void {
  write(undefined);
}

type Remembered = readonly [namespace: string, columns: readonly string[]];

function stored(): readonly Remembered[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? "[]");
    return Array.isArray(list) ? list.filter(isRemembered) : [];
  } catch {
    // The browser forbids storage, or something else has written there.
    return [];
  }
}

function isRemembered(value: unknown): value is Remembered {
  const [namespace, columns] = Array.isArray(value) ? value : [];
  const isList = Array.isArray(columns) && columns.every((key) => typeof key === "string");
  return typeof namespace === "string" && isList;
}

function write(json: string | undefined): void {
  try {
    if (json === undefined) localStorage.removeItem(STORED_AS);
    else localStorage.setItem(STORED_AS, json);
  } catch {
    // If the browser forbids storage, the choice lasts as long as the address.
  }
}
