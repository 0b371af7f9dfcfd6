import { useQuery } from "@connectrpc/connect-query";
import { useMutation } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { accounts } from "./api";
import { count, UNLIMITED_CALLS } from "./format";
import { KeyInUse } from "./key-in-use";
import { whileBusy } from "./parts/busy";
import { Gauge } from "./parts/gauge";
import { Icon, type IconName, Logo } from "./parts/icon";
import { linkTo, useRoute } from "./route";
import { useSession } from "./session/session";
import { signOut } from "./session/sign-in";
import { theme, toggleTheme } from "./theme";
import { useStore } from "./use-store";

const NAVIGATION: readonly (readonly [page: string, name: string, icon: IconName])[] = [
  ["start", "Quick start", "start"],
  ["playground", "Playground", "playground"],
  ["memories", "Memories", "memories"],
  ["usage", "Usage", "usage"],
  ["calls", "Calls", "calls"],
  ["keys", "API keys", "keys"],
  ["account", "Account", "account"],
  ["reference", "API reference", "docs"],
];

/** Address of the guides, which are pages of their own beside the portal. */
const DOCS = "docs/";

/** Header and navigation around every page. */
export function Shell({ children }: { children: ReactNode }) {
  const signedIn = useSession().signedIn === true;
  useEffect(keepFocus, []);
  return (
    <div className="shell" data-signed-in={signedIn}>
      <button type="button" className="skip" onClick={skipToMain}>
        Skip to content
      </button>
      <header className="bar">
        <a className="brand" href={linkTo(signedIn ? "usage" : "")}>
          <Logo /> recalld
        </a>
        {signedIn ? <SignedInBar /> : <VisitorLinks />}
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function VisitorLinks() {
  return (
    <nav className="bar-end" aria-label="Portal">
      <a href={DOCS}>Docs</a>
      <a href={linkTo("reference")}>API reference</a>
      <ThemeButton />
    </nav>
  );
}

/** Calls that are left, and everything else in a menu, which is always open where there is room beside the page. */
function SignedInBar() {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const closeByEscape = ({ key }: KeyboardEvent) => {
    if (key !== "Escape" || !isOpen) return;
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    const close = () => setOpen(false);
    addEventListener("hashchange", close);
    return () => removeEventListener("hashchange", close);
  }, []);
  return (
    <>
      <CallsLeft />
      <button
        ref={button}
        type="button"
        className="menu-button"
        aria-expanded={isOpen}
        aria-controls="menu"
        onClick={() => setOpen(!isOpen)}
        onKeyDown={closeByEscape}
      >
        <Icon name={isOpen ? "close" : "menu"} /> Menu
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys that are pressed on what it holds */}
      <div id="menu" className="menu" data-open={isOpen} onKeyDown={closeByEscape}>
        <Navigation />
        <KeyInUse />
        <div className="menu-end">
          <SignOutButton />
          <ThemeButton />
        </div>
      </div>
    </>
  );
}

function Navigation() {
  const { page } = useRoute();
  const here = page || "usage";
  return (
    <nav aria-label="Main">
      {NAVIGATION.map(([to, name, icon]) => (
        <a key={to} href={linkTo(to)} aria-current={to === here ? "page" : undefined}>
          <Icon name={icon} />
          {name}
        </a>
      ))}
      <a href={DOCS}>
        <Icon name="book" />
        Docs
      </a>
    </nav>
  );
}

function CallsLeft() {
  const { data } = useQuery(accounts.getAccount, {});
  if (!data) return null;
  const { callsUsed: used, callsLimit: limit } = data;
  if (limit === UNLIMITED_CALLS) return null;
  const left = Math.max(limit - used, 0);
  return (
    <a className="calls-left" href={linkTo("usage")}>
      <span>
        <strong>{count(left)}</strong> {left === 1 ? "call" : "calls"} left
      </span>
      <Gauge used={used} limit={limit} label="Calls used" />
    </a>
  );
}

export function ThemeButton() {
  const current = useStore(theme);
  const other = current === "dark" ? "Light" : "Dark";
  return (
    <button type="button" className="button-plain" aria-label={`${other} theme`} onClick={toggleTheme}>
      {other}
    </button>
  );
}

export function SignOutButton() {
  const leaving = useMutation({
    mutationFn: signOut,
    onSuccess: () => {
      location.hash = "#/";
    },
  });
  return (
    <>
      {leaving.error && (
        <span className="problem" role="alert">
          Not signed out yet. Try again.
        </span>
      )}
      <button
        type="button"
        className="button-plain sign-out"
        {...whileBusy(leaving.isPending)}
        onClick={() => leaving.mutate()}
      >
        <Icon name="leave" /> Sign out
      </button>
    </>
  );
}

/**
 * Focuses the content when what had the focus leaves the page, as a deleted row and its dialog do: the next Tab would begin
 * at the top. Returns a function that ends it.
 */
function keepFocus(): () => void {
  let focused: EventTarget | null = null;
  const note = ({ target }: FocusEvent) => {
    focused = target;
  };
  const observer = new MutationObserver(() => {
    if (!(focused instanceof Element) || focused.isConnected) return;
    focused = null;
    if (document.activeElement === document.body) skipToMain();
  });
  document.addEventListener("focusin", note);
  observer.observe(document.body, { childList: true, subtree: true });
  return () => {
    document.removeEventListener("focusin", note);
    observer.disconnect();
  };
}

/** Skips to the content. It is a button, because the part of the address after # names the page. */
function skipToMain(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}
