import { Code, ConnectError } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { useRef } from "react";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { accounts } from "./api";
import { CopyButton } from "./code/copy";
import { hasUnsaved } from "./parts/ask-before-leaving";
import { Icon } from "./parts/icon";
import { linkTo } from "./route";
import { isUnreachable, useAway } from "./session/reach";
import { useRights } from "./session/rights";

const TITLES: Partial<Record<Code, string>> = {
  [Code.InvalidArgument]: "The server did not accept this input",
  [Code.PermissionDenied]: "This key does not have that right",
  [Code.NotFound]: "Not found",
  [Code.AlreadyExists]: "This already exists",
  [Code.FailedPrecondition]: "This is not possible right now",
  [Code.ResourceExhausted]: "You have reached a limit",
  [Code.Aborted]: "Someone else has changed this meanwhile",
  [Code.Unauthenticated]: "The key was not accepted",
  [Code.Unimplemented]: "This server does not support this yet",
  [Code.Unavailable]: "The server is not available right now",
};

/** Shows a call's error in the server's words. */
export function ErrorNote({ error }: { error: unknown }) {
  const away = useAway();
  if (!error) return null;
  if (isUnreachable(error)) return away ? <AwayNote /> : <UnansweredNote />;
  const { code, rawMessage } = ConnectError.from(error);
  if (isQuotaExhausted(error)) return <QuotaNote />;
  return (
    <div className="note note-bad" role="alert">
      <Icon name="alert" />
      <div>
        <strong>{TITLES[code] ?? "Something went wrong"}</strong>
        <p>{rawMessage}</p>
        {code === Code.Unauthenticated && hasUnsaved() && (
          <p>Sign in again in another tab, then save here.</p>
        )}
      </div>
    </div>
  );
}

/** Shows that the server is away, and what happens next. */
export function AwayNote() {
  return (
    <div className="note note-warn" role="alert">
      <Icon name="alert" />
      <div>
        <strong>The server cannot be reached</strong>
        <p>
          It is tried again by itself, and this page goes on when it answers. What you sent last may not have
          arrived.
        </p>
      </div>
    </div>
  );
}

/** Shows, when the server is back, that what was sent before had no answer. */
function UnansweredNote() {
  return (
    <div className="note note-warn" role="alert">
      <Icon name="alert" />
      <div>
        <strong>The server did not answer</strong>
        <p>What you sent may have arrived all the same: look whether it has before you send it again.</p>
      </div>
    </div>
  );
}

/** Shows that the plan is used up, what can still be done, and how to get more. */
export function QuotaNote() {
  const { data } = useQuery(accounts.getAccount, {});
  const { writes } = useRights();
  const id = useRef<HTMLElement>(null);
  return (
    <div className="note note-warn" role="alert">
      <Icon name="alert" />
      <div className="stack">
        <strong>All calls of this plan are used</strong>
        <p>
          You can no longer store or recall. Your memories are safe: you can still{" "}
          <a href={linkTo("memories")}>read{writes ? ", export and delete" : " and export"} them</a>, here and
          through the API.
        </p>
        {data && (
          <p>
            For more calls, ask those who run this server for a larger plan, and tell them your account:{" "}
            <code ref={id} tabIndex={-1} className="breakable">
              {data.accountId}
            </code>{" "}
            <CopyButton text={data.accountId} what="account" className="button-small" source={id} />
          </p>
        )}
      </div>
    </div>
  );
}

function isQuotaExhausted(error: unknown): boolean {
  const [info] = ConnectError.from(error).findDetails(ErrorInfoSchema);
  return info?.reason === "QUOTA_EXHAUSTED";
}
