import { type ReactNode, useEffect, useRef } from "react";

export interface PageProps {
  readonly title: string;
  readonly intro?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Frame of a page. Its heading takes the focus, so that screen readers announce the page. */
export function Page({ title, intro, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · recalld`;
    scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {intro && <p className="quiet">{intro}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** Stands where content will be. Screen readers are told in words. */
export function Loading() {
  return (
    <div className="loading" role="status">
      <span className="unseen">Loading…</span>
      <span />
      <span />
      <span />
    </div>
  );
}

/** Message in place of an empty list. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
