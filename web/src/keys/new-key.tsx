import type { CreateKeyResponse } from "../api";
import { Dialog } from "../parts/dialog";
import { KeyBox } from "../start/key-box";
import { Saved } from "../start/saved";

/** Shows a key that was just made, this once. */
export function NewKey({ made: { apiKey, key }, onClose }: { made: CreateKeyResponse; onClose(): void }) {
  return (
    <Dialog title={key?.name ? `Save “${key.name}” now` : "Save the key now"}>
      <div className="stack">
        <p>
          It is shown <strong>this once</strong>; only a hash of it is kept.
        </p>
        <KeyBox apiKey={apiKey} />
        <Saved action="Done" onSaved={onClose} />
      </div>
    </Dialog>
  );
}
