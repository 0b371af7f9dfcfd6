import { Code, ConnectError } from "@connectrpc/connect";
import { useQuery } from "@tanstack/react-query";
import { ErrorNote } from "../errors";
import { Icon } from "../parts/icon";
import { Loading, Page } from "../parts/page";
import { useSession } from "../session/session";
import { ConsentForm } from "./consent-form";
import { redirectTo } from "./redirect-to";
import { type AuthorizationRequest, readRequest } from "./request";

/** Page that asks the user whether an application may use the memories. */
export function AuthorizePage() {
  const { number } = useSession();
  const { data, error } = useQuery({
    queryKey: ["authorization-request", location.search, number],
    queryFn: readRequest,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <Refused error={error} />;
  if (data === undefined) return <Loading />;
  return data.problem ? <Problem request={data} /> : <Request request={data} />;
}

function Request({ request }: { request: AuthorizationRequest }) {
  return (
    <div className="authorize">
      <Page title="Let an application use your memories">
        <div className="card stack">
          <Who request={request} />
          <ConsentForm request={request} />
        </div>
      </Page>
    </div>
  );
}

/** Shows who asks, and how much of it is known. */
function Who({ request: { client, redirect } }: { request: AuthorizationRequest }) {
  return (
    <>
      <p>
        <strong>
          <bdi className="clip">{client.name || client.host || redirect.host}</bdi>
        </strong>{" "}
        asks for a key to your memories.
      </p>
      <dl className="facts">
        <dt>Known by</dt>
        <dd>
          {client.host === "" ? (
            "the name that it gave itself, which nobody has checked"
          ) : (
            <bdi className="mono">{client.host}</bdi>
          )}
        </dd>
        <dt>You go on to</dt>
        <dd>
          {redirect.is_local && "a program on this device: "}
          <bdi className="mono">{redirect.host}</bdi>
        </dd>
      </dl>
      <p className="note note-warn">
        <Icon name="alert" />
        <span>Allow this only if you have just asked that application to connect here.</span>
      </p>
    </>
  );
}

/** Shows what is wrong with a request, and offers to tell the application. Nobody is sent anywhere unasked. */
function Problem({ request: { redirect, problem, location } }: { request: AuthorizationRequest }) {
  return (
    <div className="authorize">
      <Page title="This application cannot be connected">
        <div className="card stack">
          <p className="note note-bad" role="alert">
            <Icon name="alert" />
            <span>
              Its request is wrong: {problem?.error_description} (<code>{problem?.error}</code>).
            </span>
          </p>
          <div className="actions">
            <button type="button" onClick={() => redirectTo(location ?? "")}>
              Go back to {redirect.host}
            </button>
          </div>
        </div>
      </Page>
    </div>
  );
}

function Refused({ error }: { error: unknown }) {
  return (
    <div className="authorize">
      <Page title="This application cannot be connected">
        <ErrorNote error={error} />
        <p className="quiet">
          {ConnectError.from(error).code === Code.PermissionDenied
            ? "Sign out, and sign in with a key that may manage the account."
            : "Close this page, and connect the application anew."}
        </p>
      </Page>
    </div>
  );
}
