import "./docs.css";
import { applyTheme, theme, toggleTheme } from "../src/theme";
import { addCopyButtons } from "./copy";
import { openSearch } from "./search";

/** Width below which the lists of pages and sections are closed until they are asked for. */
const PHONE = matchMedia("(width < 60rem)");

applyTheme();
showTheme();
foldLists();
addCopyButtons();
openSearch(document.querySelector<HTMLFormElement>("form.search"));

function showTheme(): void {
  const button = document.querySelector<HTMLButtonElement>("button.theme");
  if (button === null) return;
  const name = () => {
    button.textContent = theme.get() === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `${button.textContent} theme`);
  };
  button.addEventListener("click", toggleTheme);
  theme.subscribe(name);
  name();
  button.hidden = false;
}

function foldLists(): void {
  const fold = () => {
    for (const list of document.querySelectorAll<HTMLDetailsElement>(".pages details, .contents details"))
      list.open = !PHONE.matches;
  };
  PHONE.addEventListener("change", fold);
  fold();
}
