const NOTICE_MS = 2_500;

/** Adds a button to each block of code that copies it. */
export function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>("figure.code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy-code button-small";
    button.textContent = "Copy";
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", () => void copy(block, button));
    block.append(button);
  }
}

/** Browsers offer no clipboard over plain HTTP: the code is selected then. */
async function copy(block: HTMLElement, button: HTMLButtonElement): Promise<void> {
  const source = block.querySelector("pre");
  if (source === null) return;
  try {
    await navigator.clipboard.writeText(source.textContent ?? "");
    button.textContent = "Copied";
  } catch {
    source.focus();
    getSelection()?.selectAllChildren(source);
    button.textContent = "Selected: press Ctrl+C";
  }
  setTimeout(() => {
    button.textContent = "Copy";
  }, NOTICE_MS);
}
