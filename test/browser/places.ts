import type { Page } from "playwright-core";

/** A page of the portal, or what opens on it. */
export interface Place {
  readonly name: string;
  /** Address within the portal. */
  readonly hash: string;
  /** Opens what is to be seen there. */
  act?(page: Page): Promise<unknown>;
}

/** Every page, and every dialog that opens on one, for an account that has memories in this namespace. */
export function placesOf(namespace: string): readonly Place[] {
  const memories = `memories/${encodeURIComponent(namespace)}`;
  return [
    { name: "usage", hash: "usage", act: (page) => page.getByText("Show as a table").click() },
    { name: "the menu", hash: "usage", act: openMenu },
    { name: "quick start", hash: "start", act: runHere },
    { name: "calls", hash: "calls" },
    { name: "keys", hash: "keys" },
    { name: "account", hash: "account" },
    { name: "closing the account", hash: "account", act: press("Close account") },
    { name: "creating a key", hash: "keys", act: press("Create key") },
    { name: "rotating a key", hash: "keys", act: press("Rotate first key") },
    { name: "revoking the last key", hash: "keys", act: press("Revoke first key") },
    { name: "namespaces", hash: "memories" },
    { name: "a namespace", hash: memories },
    { name: "an empty namespace", hash: "memories/nothing" },
    { name: "importing", hash: memories, act: pressInMore("Import") },
    { name: "deleting a namespace", hash: memories, act: pressInMore("Delete namespace") },
    { name: "a memory", hash: memories, act: openFirst },
    { name: "editing a memory", hash: memories, act: ofFirst("Edit") },
    { name: "superseding a memory", hash: memories, act: ofFirst("Supersede") },
    { name: "deleting a memory", hash: memories, act: ofFirst("Delete") },
    { name: "columns and a selection", hash: `${memories}?columns=["a"]`, act: select },
    { name: "deleting what is selected", hash: memories, act: deleteSelected },
    { name: "a search", hash: `${memories}?q=tea` },
    { name: "the playground", hash: memories.replace("memories", "playground"), act: recall },
    { name: "the API reference", hash: "reference" },
    { name: "the reference of a call", hash: "reference/Recall" },
    { name: "destroying by the reference", hash: "reference/DeleteMemory", act: destroy },
  ];
}

const press = (name: string) => async (page: Page) => {
  await page.getByRole("button", { name, exact: true }).click();
  await page.getByRole("dialog").waitFor();
};

const pressInMore = (name: string) => async (page: Page) => {
  await openMore(page);
  await press(name)(page);
};

async function openFirst(page: Page): Promise<void> {
  await page.locator(".row").first().click();
  await page.getByRole("heading", { name: "Metadata" }).waitFor();
}

const ofFirst = (action: string) => async (page: Page) => {
  await openFirst(page);
  const dialogs = await page.getByRole("dialog").count();
  await page.getByRole("button", { name: action, exact: true }).click();
  await page
    .getByRole("dialog")
    .nth(dialogs)
    .or(page.getByRole("button", { name: "Cancel" }))
    .first()
    .waitFor();
};

async function select(page: Page): Promise<void> {
  await page.getByRole("checkbox", { name: "Select all that are shown" }).check();
  await page.getByRole("button", { name: /^Delete \d+ selected/ }).waitFor();
  // Its list covers the head of the table.
  await openMore(page);
}

async function deleteSelected(page: Page): Promise<void> {
  await page.getByRole("checkbox", { name: "Select all that are shown" }).check();
  await page.getByRole("button", { name: /^Delete \d+ selected/ }).click();
  await page.getByRole("dialog").waitFor();
}

async function runHere(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Run it here" }).click();
  await page.locator(".results").waitFor();
}

async function recall(page: Page): Promise<void> {
  await page.getByLabel("Question").fill("Who prefers tea?");
  await page.getByRole("button", { name: "Recall", exact: true }).click();
  await page.locator(".results").waitFor();
  for (const details of await page.locator("summary").all()) await details.click();
}

async function destroy(page: Page): Promise<void> {
  await page.getByLabel("namespace").fill("home");
  await page.getByLabel("id", { exact: true }).fill("mem_01kafz3v2wes8vptq3jbm5yr4x");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("dialog").waitFor();
}

/** Opens what else can be done with a namespace. */
export async function openMore(page: Page): Promise<void> {
  await page.locator(".drop-down > summary").waitFor();
  const closed = page.locator(".drop-down:not([open]) > summary");
  if (await closed.isVisible()) await closed.click();
}

/** Opens the menu of a narrow screen; on a wide one it is always open. */
export async function openMenu(page: Page): Promise<void> {
  const button = page.getByRole("button", { name: "Menu" });
  if (await button.isVisible()) await button.click();
}
