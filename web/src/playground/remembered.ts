import { useState } from "react";
import { currentSession } from "../session/session";

const remembered = new Map<string, unknown>();
let owner: number | undefined;

/** A state that outlives its page until somebody else signs in, or the tab is closed or reloaded. */
export function useRemembered<T>(name: string, initial: T): [T, (value: T) => void] {
  const { number } = currentSession();
  if (owner !== number) remembered.clear();
  owner = number;
  const [value, setValue] = useState<T>(() => (remembered.has(name) ? (remembered.get(name) as T) : initial));
  const set = (next: T) => {
    // A call of the one before has ended late.
    if (owner !== number) return;
    remembered.set(name, next);
    setValue(next);
  };
  return [value, set];
}
