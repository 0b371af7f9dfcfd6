import { Code, ConnectError } from "@connectrpc/connect";
import { errorFromJson } from "@connectrpc/connect/protocol-connect";
import { endingSession, FROM_PORTAL, loadAgain, queryClient, SERVICE_URL, whenSessionEnds } from "./client";
import { forgetColumns } from "./columns";
import { awaitServer } from "./reach";
import {
  currentSession,
  forgetAll,
  forgetStoredKey,
  type Notice,
  noteSignedIn,
  noteSignedOut,
  showUnsaved,
  storedKey,
  storeUnsaved,
} from "./session";

const PATH = `${SERVICE_URL}/session`;
const TOO_MANY = 429;

/** Notifies the other tabs; the browser is signed in for all of them. */
const tabs = new BroadcastChannel("recalld.session");

const ELSEWHERE: Notice = {
  title: "You are signed out",
  text: "You signed out in another tab, or your session ended there.",
};

tabs.onmessage = ({ data }) => {
  if (data === "in") void start();
  else if (currentSession().signedIn !== false) {
    queryClient.clear();
    noteSignedOut(ELSEWHERE);
  }
};

whenSessionEnds(() => {
  leave({
    title: "You were signed out",
    text: "Your session is over, or its key no longer works: it was revoked, it expired, or its account was closed.",
  });
});

/** Finds out whether the browser is signed in, and goes on trying while the server cannot tell. */
export async function start(): Promise<void> {
  try {
    if (await takeOver()) return;
    const signedIn = await isSignedIn();
    if (!signedIn) noteSignedOut();
    else enter();
  } catch {
    // The server is away, and the page says so.
    awaitServer(SERVICE_URL, start);
  }
}

/**
 * Opens a session for a key, which is forgotten. With `stay` it outlives the browser.
 *
 * @throws ConnectError if the key is refused, or the browser takes no cookie.
 */
export async function signIn(key: string, { stay }: { stay: boolean }): Promise<void> {
  await open(key, stay);
  forgetStoredKey();
  enter();
  tabs.postMessage("in");
}

/** Opens a session for a new account. Its key is shown in any case: it cannot be had again. */
export async function signInNew(key: string): Promise<void> {
  storeUnsaved(key);
  try {
    await open(key, false);
    enter();
    tabs.postMessage("in");
  } catch (error) {
    noteSignedOut({ title: "You could not be signed in", text: ConnectError.from(error).rawMessage });
  } finally {
    showUnsaved(key);
  }
}

/** Ends the session for all tabs. @throws TypeError while the server cannot be reached. */
export async function signOut(): Promise<void> {
  try {
    await endingSession(async () => {
      const response = await fetch(PATH, { method: "DELETE", headers: FROM_PORTAL });
      if (!response.ok) throw await errorOf(response);
      leave();
    });
  } catch (error) {
    void loadAgain();
    throw error;
  }
}

/** Leaves a session that has ended already, in all tabs. */
export function leave(notice?: Notice): void {
  queryClient.clear();
  forgetColumns();
  forgetAll(notice);
  tabs.postMessage("out");
}

/** Takes over a key that the tab has kept, once; returns whether that signed in. */
async function takeOver(): Promise<boolean> {
  const key = storedKey();
  const { unsaved } = currentSession();
  if (key === undefined) return false;
  try {
    if (!(await isSignedIn())) await open(key, false);
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code !== Code.Unauthenticated) throw error;
    forgetStoredKey();
    return false;
  }
  if (!unsaved) forgetStoredKey();
  enter();
  return true;
}

function enter(): void {
  // Somebody else may have been signed in.
  if (currentSession().signedIn) void queryClient.resetQueries();
  noteSignedIn();
}

async function open(key: string, stay: boolean): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(PATH, { method: "POST", headers, body: JSON.stringify({ stay }) });
  if (!response.ok) throw await errorOf(response);
  if (await isSignedIn()) return;
  const text = "your browser did not take the session's cookie: allow cookies for this site";
  throw new ConnectError(text, Code.FailedPrecondition);
}

async function isSignedIn(): Promise<boolean> {
  const response = await fetch(PATH, { headers: FROM_PORTAL });
  // A key that calls too often is one that works.
  if (response.status === TOO_MANY) return true;
  if (!response.ok) throw await errorOf(response);
  return ((await response.json()) as { signed_in: boolean }).signed_in;
}

/** Reads the error of an answer that no RPC gave. */
export async function errorOf(response: Response): Promise<ConnectError> {
  const fallback = new ConnectError(`HTTP ${response.status}`, Code.Unavailable);
  return errorFromJson(await response.json().catch(() => undefined), response.headers, fallback);
}
