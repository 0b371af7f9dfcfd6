import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { accounts } from "../api";
import { ErrorNote } from "../errors";
import { dateTime } from "../format";
import { Icon } from "../parts/icon";
import { More } from "../parts/more";
import { Empty, Loading, Page } from "../parts/page";
import { linkTo } from "../route";
import { useRights } from "../session/rights";
import { CallTable } from "./call-table";
import { useKeyNames } from "./key-names";

/** Page of the account's last calls. */
export function CallsPage() {
  const [errorsOnly, setErrorsOnly] = useState(false);
  const { namespace } = useRights();
  const nameOf = useKeyNames();
  const { data, error, isFetching, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(
      accounts.listRecentCalls,
      { pageToken: "", errorsOnly },
      { pageParamKey: "pageToken", getNextPageParam: (page) => page.nextPageToken || undefined },
    );
  const calls = data?.pages.flatMap((page) => page.calls) ?? [];
  const since = data?.pages[0]?.since;
  const whose = namespace === undefined ? "by this account’s keys" : "by this key";
  return (
    <Page
      title="Calls"
      intro={`The last calls ${whose}, and how they ended. No texts are kept.`}
      actions={
        <button type="button" disabled={isFetching} onClick={() => void refetch()}>
          <Icon name="rotate" /> {isFetching ? "Refreshing…" : "Refresh"}
        </button>
      }
    >
      <Filter errorsOnly={errorsOnly} onChange={setErrorsOnly} />
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {data && calls.length === 0 && <Nothing errorsOnly={errorsOnly} />}
      {calls.length > 0 && <CallTable calls={calls} nameOf={nameOf} />}
      {hasNextPage && <More busy={isFetchingNextPage} onMore={() => fetchNextPage()} />}
      {since && (
        <p className="hint">
          Calls are kept since <Since ms={timestampMs(since)} text={dateTime(since)} />, up to a number that
          the operator sets. Those that this portal makes are not listed.
        </p>
      )}
    </Page>
  );
}

function Since({ ms, text }: { ms: number; text: string }) {
  return <time dateTime={new Date(ms).toISOString()}>{text}</time>;
}

function Filter({ errorsOnly, onChange }: { errorsOnly: boolean; onChange(errorsOnly: boolean): void }) {
  const choices = [
    ["All calls", false],
    ["Errors only", true],
  ] as const;
  return (
    <fieldset className="segments">
      <legend className="unseen">Calls shown</legend>
      {choices.map(([name, value]) => (
        <label key={name}>
          <input
            type="radio"
            name="calls-shown"
            checked={errorsOnly === value}
            onChange={() => onChange(value)}
          />
          {name}
        </label>
      ))}
    </fieldset>
  );
}

function Nothing({ errorsOnly }: { errorsOnly: boolean }) {
  if (errorsOnly) {
    return (
      <Empty title="No call has failed">
        <p>Calls that end with an error appear here, with the name of the error.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No calls yet">
      <p>
        Make one in the <a href={linkTo("start")}>quick start</a>.
      </p>
    </Empty>
  );
}
