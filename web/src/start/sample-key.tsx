import { linkTo } from "../route";
import { useRights } from "../session/rights";
import { useSession } from "../session/session";

/** Stands in samples for a key that this page does not know. */
const UNKNOWN = "rcl_YOUR_KEY";

/** Returns the key to show in samples: the one that was made on this page, or what stands for it. */
export function useSampleKey(): string {
  return useSession().key ?? UNKNOWN;
}

/** Text that stands in samples for a key that the page does not know. */
export function SampleKeyNote() {
  const { signedIn, key } = useSession();
  if (key !== undefined) return null;
  return (
    <p className="hint">
      Put your key in place of <code>{UNKNOWN}</code>: no page keeps it.
      {signedIn && <WayToKey />}
    </p>
  );
}

function WayToKey() {
  const { manages } = useRights();
  if (!manages) return null;
  return (
    <>
      {" "}
      Without one at hand, <a href={linkTo("keys")}>create another</a>.
    </>
  );
}
