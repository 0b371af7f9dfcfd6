import { count } from "../format.js";

export const WARN_FROM = 0.8;

/** Bar that shows how much of a limit is used. */
export function Gauge({ used, limit, label }: { used: number; limit: number; label: string }) {
  const share = limit > 0 ? Math.min(used / limit, 1) : 1;
  const state = share >= 1 ? "full" : share >= WARN_FROM ? "warn" : "calm";
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers do not let style sheets shape <meter> alike
    <div
      className="gauge"
      data-state={state}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={used}
      aria-valuetext={`${count(used)} of ${count(limit)}`}
    >
      <div style={{ inlineSize: `${Math.max(share * 100, used > 0 ? 1 : 0)}%` }} />
    </div>
  );
}
