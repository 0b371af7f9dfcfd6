import { useState } from "react";

/** Memories that can be selected at once: as many as one call deletes. */
const SELECTED_MAX = 256;

/** Keeps which of the listed memories are selected. What is listed no more is selected no more. */
export function useSelection(listed: readonly string[]) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const there = new Set(listed);
  const selected = new Set(chosen.filter((id) => there.has(id)));
  const select = (ids: readonly string[], isSelected: boolean) => {
    const others = [...selected].filter((id) => !ids.includes(id));
    setChosen((isSelected ? [...others, ...ids] : others).slice(0, SELECTED_MAX));
  };
  return { selected, select, clear: () => setChosen([]) };
}
