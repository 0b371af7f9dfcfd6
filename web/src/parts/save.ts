/** Lets the browser save a file. */
export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Some browsers read the blob only after the click returns, so it is released later.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
