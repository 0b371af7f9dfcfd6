import type { LiveState } from "./use-live";

const SAID: Readonly<Record<LiveState, string>> = {
  off: "",
  connecting: "Connecting…",
  live: "New memories appear by themselves. The first 100 are shown.",
  paused: "Paused while this page is hidden.",
  refused: "This key may not watch.",
};

export interface LiveButtonProps {
  readonly state: LiveState;
  readonly isOn: boolean;
  onChange(isOn: boolean): void;
}

/** Switches on that changes show by themselves. */
export function LiveButton({ state, isOn, onChange }: LiveButtonProps) {
  return (
    <button type="button" aria-pressed={isOn} className="live" onClick={() => onChange(!isOn)}>
      <span className="live-mark" data-state={state} /> Live
    </button>
  );
}

export function LiveNote({ state }: Pick<LiveButtonProps, "state">) {
  return (
    <p className="hint live-note" role="status">
      {state !== "off" && <span className="live-mark" data-state={state} />} {SAID[state]}
    </p>
  );
}
