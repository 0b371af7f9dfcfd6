import { Icon } from "./parts/icon";
import { linkTo } from "./route";
import { useRights } from "./session/rights";

/** Names the key that this browser uses, and what it may do. */
export function KeyInUse() {
  const { key, readsOnly, namespace } = useRights();
  if (key === undefined) return null;
  return (
    <a className="key-in-use" href={linkTo("keys")}>
      <span className="key-in-use-name">
        <Icon name="keys" />
        <span className="unseen">Key in use: </span>
        <bdi className="cut" title={key.name}>
          {key.name || "unnamed"}
        </bdi>
      </span>
      <span className="mono">{key.prefix}…</span>
      {readsOnly ? (
        <span className="badge badge-warn">read only</span>
      ) : (
        <span className="badge">full access</span>
      )}
      {namespace === undefined ? (
        <span className="key-in-use-where">all namespaces</span>
      ) : (
        <span className="key-in-use-where cut" title={namespace}>
          only in <bdi className="mono">{namespace}</bdi>
        </span>
      )}
    </a>
  );
}
