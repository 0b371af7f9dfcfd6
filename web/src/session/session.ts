import { createStore } from "../store";
import { useStore } from "../use-store";

/** The user, as far as this page knows. The session itself is in a cookie that no script can read. */
export interface Session {
  /** Whether the browser is signed in; undefined until the server has told. */
  readonly signedIn: boolean | undefined;
  /** Number of the sign-in that this page knows of, which tells one user from the next. */
  readonly number: number;
  /** The key that was made by signing up on this page. No page keeps any other. */
  readonly key: string | undefined;
  /** True if that key's owner has not yet confirmed that it is saved. */
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
  signedIn: undefined,
  number: 0,
  notice: undefined,
  // This survives a reload, because closing the dialog by accident must not lose the key.
  ...(read(UNSAVED) === undefined ? { key: undefined, unsaved: false } : { key: read(KEY), unsaved: true }),
});

export function useSession(): Session {
  return useStore(session);
}

export function currentSession(): Session {
  return session.get();
}

/** Notes that the browser is signed in, maybe as somebody else. */
export function noteSignedIn(): void {
  const { number, key, unsaved } = session.get();
  const newKey = unsaved ? { key, unsaved } : NO_KEY;
  session.set({ ...newKey, signedIn: true, number: number + 1, notice: undefined });
}

/** Notes that the browser is not signed in. A key that is not saved yet is still shown. */
export function noteSignedOut(notice?: Notice): void {
  const { number, key, unsaved } = session.get();
  session.set({ ...(unsaved ? { key, unsaved } : NO_KEY), signedIn: false, number, notice });
}

/** Keeps a new key in this tab until its owner has saved it. */
export function storeUnsaved(key: string): void {
  write(KEY, key);
  write(UNSAVED, "yes");
}

/** Shows a new key. */
export function showUnsaved(key: string): void {
  session.set({ ...session.get(), key, unsaved: true });
}

/** Returns the key that a tab has kept: a new one, or one of a version that kept the key of each sign-in. */
export function storedKey(): string | undefined {
  return read(KEY);
}

/** Removes the key from the tab. This page shows it until it is left. */
export function markSaved(): void {
  forgetStoredKey();
  session.set({ ...session.get(), unsaved: false });
}

export function forgetStoredKey(): void {
  write(KEY, undefined);
  write(UNSAVED, undefined);
}

/** Forgets all of the user. */
export function forgetAll(notice?: Notice): void {
  forgetStoredKey();
  session.set({ ...session.get(), ...NO_KEY, signedIn: false, notice });
}

const NO_KEY = { key: undefined, unsaved: false };

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
    // If the browser forbids storage, a new key lasts as long as the page.
  }
}
