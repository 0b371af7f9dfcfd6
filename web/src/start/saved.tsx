import { useState } from "react";
import { useAskBeforeLeaving } from "../parts/ask-before-leaving";

/** Shows a key until its owner confirms that it is saved. Leaving the page before that asks first. */
export function Saved({ action, onSaved }: { action: string; onSaved(): void }) {
  const [saved, setSaved] = useState(false);
  useAskBeforeLeaving(!saved);
  return (
    <div className="saved">
      <label className="check">
        <input type="checkbox" checked={saved} onChange={(event) => setSaved(event.target.checked)} />I have
        saved it
      </label>
      <button type="button" className="button-main" disabled={!saved} onClick={onSaved}>
        {action}
      </button>
    </div>
  );
}
