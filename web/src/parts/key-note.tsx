import type { ReactNode } from "react";
import { Icon } from "./icon";

/** Explains why something is not offered: the key in use may not do it. */
export function KeyNote({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="note note-calm">
      <Icon name="keys" />
      <div>
        <strong>{title}</strong>
        <p>{children}</p>
      </div>
    </div>
  );
}

export const READ_ONLY = "This key may only read";
