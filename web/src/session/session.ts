import { createStore } from "../store";
import { useStore } from "../use-store";

/** The signed-in user. The key stays in this tab and is never put into an address. */
export interface Session {
  readonly key: string | undefined;
  /** True if the key is new and its owner has not yet confirmed that it is saved. */
  readonly unsaved: boolean;
  /** Reason why the session ended, if the user did not end it. */
  readonly notice: Notice | undefined;
}

export interface Notice {
  readonly title: string;
  readonly text: string;
}

const KEY = "recalld.key";
const UNSAVED = "recalld.unsaved";

const session = createStore<Session>({
  key: read(KEY),
  // This survives a reload, because closing the dialog by accident must not lose the key.
  unsaved: read(UNSAVED) !== undefined,
  notice: undefined,
});

export function useSession(): Session {
  return useStore(session);
}

export function currentKey(): string | undefined {
  return session.get().key;
}

export function signIn(key: string, { unsaved = false } = {}): void {
  write(KEY, key);
  write(UNSAVED, unsaved ? "yes" : undefined);
  session.set({ key, unsaved, notice: undefined });
}

export function markSaved(): void {
  write(UNSAVED, undefined);
  session.set({ ...session.get(), unsaved: false });
}

export function signOut(notice?: Notice): void {
  write(KEY, undefined);
  write(UNSAVED, undefined);
  session.set({ key: undefined, unsaved: false, notice });
}

function read(name: string): string | undefined {
  try {
    return sessionStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(name: string, value: string | undefined): void {
  try {
    if (value === undefined) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, value);
  } catch {
    // If the browser forbids storage, the key lasts as long as the page.
  }
}
