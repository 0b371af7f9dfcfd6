import type { Key } from "../api";
import { ago, dateTime } from "../format";
import { KeyNote, READ_ONLY } from "../parts/key-note";
import { Page } from "../parts/page";
import type { Rights } from "../session/rights";

/** Page of a key that may not manage keys: it shows this key alone. */
export function OwnKey({ apiKey, rights: { readsOnly, namespace } }: { apiKey: Key; rights: Rights }) {
  const current = apiKey.sessions.find((session) => session.current);
  return (
    <Page title="API keys" intro="This browser is signed in with the key below.">
      <KeyNote title={readsOnly ? READ_ONLY : "This key is for one namespace"}>
        So it cannot list, create or revoke keys, or close the account. For that, sign in with a key with full
        access to all namespaces.
      </KeyNote>
      <section className="card">
        <h2>Key of this browser</h2>
        <dl className="facts">
          <dt>Name</dt>
          <dd dir="auto">{apiKey.name || <span className="quiet">unnamed</span>}</dd>
          <dt>Key</dt>
          <dd className="mono">{apiKey.prefix}…</dd>
          <dt>It may</dt>
          <dd>{readsOnly ? "recall, read and list" : "store, recall, read, list and delete"}</dd>
          <dt>In</dt>
          <dd>{namespace === undefined ? "all namespaces" : <bdi className="mono">{namespace}</bdi>}</dd>
          <dt>Created</dt>
          <dd title={dateTime(apiKey.createdAt)}>{ago(apiKey.createdAt)}</dd>
          {current && (
            <>
              <dt>Signed in until</dt>
              <dd title={dateTime(current.expiresAt)}>{ago(current.expiresAt)}</dd>
            </>
          )}
          {apiKey.expiresAt && (
            <>
              <dt>Ends</dt>
              <dd title={dateTime(apiKey.expiresAt)}>{ago(apiKey.expiresAt)}</dd>
            </>
          )}
        </dl>
      </section>
    </Page>
  );
}
