import { whileBusy } from "./busy";

/** Fetches a list's next page. */
export function More({ busy, onMore }: { busy: boolean; onMore(): void }) {
  return (
    <p className="more">
      <button type="button" {...whileBusy(busy)} onClick={onMore}>
        {busy ? "Loading…" : "Show more"}
      </button>
    </p>
  );
}
