import type { CreateKeyResponse } from "../api";
import { Dialog } from "../parts/dialog";
import { KeyBox } from "../start/key-box";
import { Saved } from "../start/saved";

/** Shows a new key. It cannot be shown again. */
export function NewKey({ made: { apiKey, key }, onClose }: { made: CreateKeyResponse; onClose(): void }) {
  return (
    <Dialog title={key?.name ? `Save “${key.name}” now` : "Save the key now"}>
      <div className="stack">
        <p>
          The key is shown <strong>only once</strong>. The server keeps only a hash of it.
        </p>
        <KeyBox apiKey={apiKey} />
        <Saved action="Done" onSaved={onClose} />
      </div>
    </Dialog>
  );
}
