import { createStore } from "./store";

export type Theme = "light" | "dark";

const STORED_AS = "recalld.theme";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
/** Theme that is shown. The guides have it, too, and are not made with React. */
export const theme = createStore<Theme>(chosen() ?? preferred());

prefersDark.addEventListener("change", () => {
  if (chosen() === undefined) show(preferred());
});

/** Sets the theme on the document, for the style sheet. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.get();
}

export function toggleTheme(): void {
  const next = theme.get() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(STORED_AS, next);
  } catch {
    // If the browser forbids storage, the choice lasts as long as the page.
  }
  show(next);
}

function show(next: Theme): void {
  theme.set(next);
  applyTheme();
}

function chosen(): Theme | undefined {
  try {
    const stored = localStorage.getItem(STORED_AS);
    return stored === "light" || stored === "dark" ? stored : undefined;
  } catch {
    return undefined;
  }
}

function preferred(): Theme {
  return prefersDark.matches ? "dark" : "light";
}
