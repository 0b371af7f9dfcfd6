import { Component, type ReactNode } from "react";
import { SERVICE_URL } from "../session/client";
import { awaitServer } from "../session/reach";
import { Icon } from "./icon";

const RELOADED = "recalld.reloaded";
/** Time after an automatic reload in which there is no other: the fault would only repeat. */
const RELOAD_AGAIN_MS = 30_000;

interface BoundaryProps {
  readonly children: ReactNode;
  /** Name of the page: another page gets another try. */
  readonly page: string;
}

/**
 * Shows what can be done when a page fails. Pages are loaded when they are opened, so one may be gone after
 * the server was updated: then the portal is loaded anew, once.
 */
export class Boundary extends Component<BoundaryProps, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    if (isLoading(error)) awaitServer(SERVICE_URL, reloadOnce);
  }

  override componentDidUpdate({ page }: BoundaryProps): void {
    if (page !== this.props.page && this.state.error !== undefined) this.setState({ error: undefined });
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <section className="empty" role="alert">
        <Icon name="alert" />
        <h1>{isLoading(error) ? "This page could not be loaded" : "This page has failed"}</h1>
        <p>
          {isLoading(error)
            ? "The server cannot be reached, or it was updated since you opened the portal."
            : "That is a fault of the portal. Your memories are not affected."}
        </p>
        <button type="button" className="button-main" onClick={() => location.reload()}>
          Reload
        </button>
      </section>
    );
  }
}

/** Recognizes an error of loading a part of the portal; browsers only tell it by their own words. */
function isLoading(error: unknown): boolean {
  return error instanceof TypeError && /import|module|fetch/i.test(error.message);
}

/** Loads the portal anew. It is called when the server answers, so nobody is left with the browser's own error. */
function reloadOnce(): void {
  const lastMs = Number(read() ?? 0);
  if (Date.now() - lastMs < RELOAD_AGAIN_MS) return;
  if (write(String(Date.now()))) location.reload();
}

function read(): string | null {
  try {
    return sessionStorage.getItem(RELOADED);
  } catch {
    return null;
  }
}

/** Notes the reload; false if the browser forbids storage: then it might reload for ever. */
function write(value: string): boolean {
  try {
    sessionStorage.setItem(RELOADED, value);
    return true;
  } catch {
    return false;
  }
}
