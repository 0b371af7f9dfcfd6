import { createStore, useStore } from "../store";

/** Who is signed in. The key is kept in this tab only, and never put into an address. */
export interface Session {
  readonly key: string | undefined;
  /** The key was just made and its owner has not yet said that it is saved. */
  readonly unsaved: boolean;
  /** Why the user was signed out, when it was not their doing. */
  readonly notice: string | undefined;
}

const KEY = "recalld.key";
const UNSAVED = "recalld.unsaved";

const session = createStore<Session>({
  key: read(KEY),
  // Survives a reload: closing the reveal by accident must not lose the key.
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

export function signOut(notice?: string): void {
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
    // Storage may be forbidden: then the key lasts as long as the page.
  }
}
