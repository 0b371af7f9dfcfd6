import { useState } from "react";
import { currentSession } from "../session/session";

const kept = new Map<string, unknown>();
let owner: number | undefined;

/** A state that outlives its page until somebody else signs in, or the tab is closed or reloaded. */
export function useKept<T>(name: string, initial: T): [T, (value: T) => void] {
  const { number } = currentSession();
  if (owner !== number) kept.clear();
  owner = number;
  const [value, setValue] = useState<T>(() => (kept.has(name) ? (kept.get(name) as T) : initial));
  const set = (next: T) => {
    kept.set(name, next);
    setValue(next);
  };
  return [value, set];
}
