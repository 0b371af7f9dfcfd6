import { excerptOf, partsOf } from "./excerpt";
import { type Hit, type Index, openIndex, type Section } from "./sections";

/** Turns the form into a search: results appear while one types, arrows move among them, Esc leaves. */
export function openSearch(form: HTMLFormElement | null): void {
  const input = form?.querySelector("input");
  const panel = form?.querySelector<HTMLElement>(".found");
  if (!form || !input || !panel) return;
  let loading: Promise<Index> | undefined;
  const load = () => {
    loading ??= fetchIndex(form.dataset.index ?? "");
    return loading;
  };
  const search = async () => {
    const query = input.value.trim();
    if (query === "") return close(panel);
    try {
      const index = await load();
      if (query === input.value.trim()) show(panel, index.find(query), form.dataset.root ?? "");
    } catch {
      loading = undefined;
      say(panel, "The search could not be loaded. Type again to try again.");
    }
  };
  input.addEventListener("focus", () => void load().catch(() => (loading = undefined)));
  input.addEventListener("input", () => void search());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    panel.querySelector("a")?.click();
  });
  form.addEventListener("keydown", (event) => move(event, input, panel));
  form.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget !== null && !form.contains(relatedTarget as Node)) close(panel);
  });
  document.addEventListener("click", ({ target }) => {
    if (!form.contains(target as Node) || (target as Element).closest("a")) close(panel);
  });
  document.addEventListener("keydown", (event) => focusBySlash(event, input));
  form.hidden = false;
  const here = document.querySelector<HTMLElement>(".found-here");
  if (here)
    void load().then(
      (index) => showHere(here, index, form.dataset.root ?? ""),
      () => {},
    );
}

/** Lists on the page for a wrong address what its words find; what cannot be found out is not shown. */
function showHere(here: HTMLElement, index: Index, root: string): void {
  const hits = index.find(wordsIn(location.pathname));
  here.querySelector("ol")?.replaceChildren(...hits.map((hit) => itemOf(hit, root)));
  here.hidden = hits.length === 0;
}

/** The words of an address that leads nowhere: what its reader looks for. */
function wordsIn(path: string): string {
  const [, name = ""] = /\/docs\/(.*)$/.exec(path) ?? [];
  return name
    .replace(/\.(?:md|html)$/, "")
    .replace(/%[0-9a-f]{2}|[^a-z0-9]+/gi, " ")
    .trim();
}

async function fetchIndex(url: string): Promise<Index> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return openIndex((await answer.json()) as Section[]);
}

function show(panel: HTMLElement, hits: readonly Hit[], root: string): void {
  say(panel, hits.length === 0 ? "Nothing was found." : `${hits.length} results`);
  panel.querySelector("ol")?.replaceChildren(...hits.map((hit) => itemOf(hit, root)));
}

function say(panel: HTMLElement, message: string): void {
  panel.hidden = false;
  const status = panel.querySelector("[role=status]");
  if (status === null) return;
  status.textContent = message;
  // What is found is seen; that nothing was, is not.
  status.classList.toggle("unseen", /^\d/.test(message));
  panel.querySelector("ol")?.replaceChildren();
}

function itemOf({ section, words }: Hit, root: string): HTMLLIElement {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = `${root}${section.address}` || "./";
  const title = element("strong", section.title, words);
  const page = document.createElement("span");
  page.className = "found-page";
  page.textContent = section.title === section.page ? "" : section.page;
  link.append(title, page, element("span", excerptOf(section.text, words), words));
  item.append(link);
  return item;
}

function element(name: string, text: string, words: readonly string[]): HTMLElement {
  const made = document.createElement(name);
  for (const [index, part] of partsOf(text, words).entries()) {
    const marked = document.createElement("mark");
    marked.textContent = part;
    made.append(index % 2 === 1 ? marked : part);
  }
  return made;
}

function move(event: KeyboardEvent, input: HTMLInputElement, panel: HTMLElement): void {
  if (event.key === "Escape") {
    close(panel);
    input.focus();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || panel.hidden) return;
  event.preventDefault();
  const places: HTMLElement[] = [input, ...panel.querySelectorAll("a")];
  const next = places.indexOf(document.activeElement as HTMLElement) + step;
  places[(next + places.length) % places.length]?.focus();
}

function close(panel: HTMLElement): void {
  panel.hidden = true;
}

function focusBySlash(event: KeyboardEvent, input: HTMLInputElement): void {
  const typing = (event.target as Element).closest("input, textarea, select");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
}
