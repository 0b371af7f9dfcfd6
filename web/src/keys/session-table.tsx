import { useMutation } from "@connectrpc/connect-query";
import { useMutation as useMutationOf } from "@tanstack/react-query";
import { accounts, type Key, type Session } from "../api";
import { ErrorNote } from "../errors";
import { ago, dateTime } from "../format";
import { ScrollRegion } from "../parts/scroll-region";
import { refresh } from "../session/refresh";
import { signOut } from "../session/sign-in";
import { nameOf } from "./key-table";

/** Lists the browsers that are signed in with any of the keys. */
export function SessionTable({ keys }: { keys: readonly Key[] }) {
  const rows = keys.flatMap((key) => key.sessions.map((session) => ({ key, session })));
  const revoke = useMutation(accounts.revokeKey, { onSuccess: () => refresh("keys") });
  const leaving = useMutationOf({ mutationFn: signOut });
  if (rows.length === 0) return null;
  const end = ({ id, current }: Session) => (current ? leaving.mutate() : revoke.mutate({ id }));
  return (
    <section className="stack" aria-labelledby="sessions-title">
      <div>
        <h2 id="sessions-title">Signed-in browsers</h2>
        <p className="quiet">Each may do what its key may, and is signed out when the key ends.</p>
      </div>
      <ErrorNote error={revoke.error ?? leaving.error} />
      <div className="card card-flush">
        <ScrollRegion label="Signed-in browsers">
          <table className="cards">
            <thead>
              <tr>
                <th scope="col">With the key</th>
                <th scope="col">Signed in</th>
                <th scope="col">Last used</th>
                <th scope="col">Expires</th>
                <th scope="col">
                  <span className="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ key, session }) => (
                <Row key={session.id} apiKey={key} session={session} onEnd={() => end(session)} />
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      </div>
    </section>
  );
}

interface RowProps {
  readonly apiKey: Key;
  readonly session: Session;
  onEnd(): void;
}

function Row({ apiKey, session: { createdAt, lastUsedAt, expiresAt, current }, onEnd }: RowProps) {
  return (
    <tr>
      <th scope="row">
        <div className="key-name">
          <bdi className="clip">{nameOf(apiKey)}</bdi>
          {current && <span className="badge badge-good">this browser</span>}
        </div>
      </th>
      <td data-label="Signed in" title={dateTime(createdAt)}>
        {ago(createdAt)}
      </td>
      <td data-label="Last used" title={dateTime(lastUsedAt)}>
        {ago(lastUsedAt)}
      </td>
      <td data-label="Expires" title={dateTime(expiresAt)}>
        {ago(expiresAt)}
      </td>
      <td className="cell-actions">
        {/* The second click of a double click would meet the next browser, which has moved up. */}
        <button type="button" className="button-small" onClick={({ detail }) => detail < 2 && onEnd()}>
          Revoke
          <span className="unseen"> {current ? "this browser" : `a browser with ${nameOf(apiKey)}`}</span>
        </button>
      </td>
    </tr>
  );
}
