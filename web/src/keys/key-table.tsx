import { type Key, KeyAccess } from "../api";
import { ago, dateTime } from "../format";
import { ScrollRegion } from "../parts/scroll-region";

export interface KeyTableProps {
  readonly keys: readonly Key[];
  onRotate(key: Key): void;
  onRevoke(key: Key): void;
}

export function KeyTable({ keys, onRotate, onRevoke }: KeyTableProps) {
  return (
    <section className="card card-flush">
      <ScrollRegion label="API keys">
        <table className="cards">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Key</th>
              <th scope="col">Access</th>
              <th scope="col">Created</th>
              <th scope="col">Last used</th>
              <th scope="col">
                <span className="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.id}>
                <th scope="row">
                  <KeyName apiKey={key} keys={keys} />
                </th>
                <td data-label="Key" className="mono">
                  {key.prefix}…
                </td>
                <td data-label="Access">
                  <Access apiKey={key} />
                </td>
                <td data-label="Created" className="whole" title={dateTime(key.createdAt)}>
                  {ago(key.createdAt)}
                </td>
                <td data-label="Last used" className="whole" title={dateTime(key.lastUsedAt)}>
                  {ago(key.lastUsedAt)}
                </td>
                <td className="cell-actions">
                  {key.client === "" && (
                    <button type="button" className="button-small" onClick={() => onRotate(key)}>
                      Rotate<span className="unseen"> {nameOf(key)}</span>
                    </button>
                  )}
                  <button type="button" className="button-small" onClick={() => onRevoke(key)}>
                    Revoke<span className="unseen"> {nameOf(key)}</span>
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </section>
  );
}

export function nameOf({ name, prefix }: Key): string {
  return name || `${prefix}…`;
}

function KeyName({
  apiKey: { name, current, expiresAt, replaces, client },
  keys,
}: {
  apiKey: Key;
  keys: readonly Key[];
}) {
  const replaced = keys.find(({ id }) => id === replaces);
  return (
    <div className="key-name">
      <bdi className="clip">{name || <span className="quiet">unnamed</span>}</bdi>
      {current && <span className="badge badge-good">in use here</span>}
      {client !== "" && <span className="badge">by OAuth</span>}
      {expiresAt && (
        <span className="badge badge-warn" title={dateTime(expiresAt)}>
          ends {ago(expiresAt)}
        </span>
      )}
      {replaces && (
        <span className="badge">replaces {replaced ? nameOf(replaced) : "another"} when first used</span>
      )}
    </div>
  );
}

function Access({ apiKey: { access, namespace } }: { apiKey: Key }) {
  return (
    <div className="key-name">
      <span className="badge">{access === KeyAccess.READ_ONLY ? "read only" : "full"}</span>
      {namespace ? (
        <span>
          in <bdi className="mono clip">{namespace}</bdi>
        </span>
      ) : (
        <span className="quiet">all namespaces</span>
      )}
    </div>
  );
}
