import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useEffect, useState } from "react";
import { accounts } from "../api";
import { ErrorNote } from "../errors";
import { count, dateTime } from "../format";
import { Icon } from "../parts/icon";
import { More } from "../parts/more";
import { Empty, Loading, Page } from "../parts/page";
import { linkTo, setQuery, useRoute } from "../route";
import { useRights } from "../session/rights";
import { CallTable } from "./call-table";
import { ERRORS, FilterFields, filterOf, isChosen, queryOf } from "./filter";
import { useKeyNames } from "./key-names";

/** Calls that are loaded at once, and that are shown before one asks for more. */
const PAGE_SIZE = 100;
const SHOWN_MIN = 50;
/** Pages that are searched for chosen calls before one asks for more: the record may hold 10,000. */
const PAGES_SEARCHED = 10;

/** Page of the account's last calls. */
export function CallsPage() {
  const filter = filterOf(useRoute().query);
  const { namespace } = useRights();
  const nameOf = useKeyNames();
  const { data, error, isFetching, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(
      accounts.listRecentCalls,
      { pageToken: "", pageSize: PAGE_SIZE, errorsOnly: filter.code !== "" && filter.code !== "ok" },
      { pageParamKey: "pageToken", getNextPageParam: (page) => page.nextPageToken || undefined },
    );
  const [searched, setSearched] = useState(PAGES_SEARCHED);
  const pages = data?.pages.length ?? 0;
  const loaded = data?.pages.flatMap((page) => page.calls) ?? [];
  const calls = loaded.filter((call) => isChosen(call, filter));
  const isFiltered = Object.values(filter).some((value) => value !== "");
  // The API can choose errors alone; for other choices its pages are searched here.
  const seeks = hasNextPage && calls.length < SHOWN_MIN && pages < searched;
  useEffect(() => {
    if (seeks && !isFetchingNextPage) void fetchNextPage();
  }, [seeks, isFetchingNextPage, fetchNextPage]);
  const more = () => {
    setSearched(pages + PAGES_SEARCHED);
    void fetchNextPage();
  };
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
      <FilterFields
        {...{ filter, nameOf }}
        calls={loaded}
        onChange={(next) => {
          setSearched(PAGES_SEARCHED);
          setQuery(queryOf(next));
        }}
      />
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {data && calls.length === 0 && !seeks && (
        <Nothing {...{ isFiltered }} isErrors={filter.code === ERRORS} />
      )}
      {calls.length > 0 && <CallTable calls={calls} nameOf={nameOf} />}
      {isFiltered && hasNextPage && (
        <p className="hint" role="status">
          The last {count(loaded.length)} calls were searched.
        </p>
      )}
      {hasNextPage && <More busy={isFetchingNextPage} onMore={more} />}
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

function Nothing({ isFiltered, isErrors }: { isFiltered: boolean; isErrors: boolean }) {
  if (isErrors) {
    return (
      <Empty title="No call has failed">
        <p>Calls that end with an error appear here, with the error’s name and message.</p>
      </Empty>
    );
  }
  if (isFiltered) return <p className="quiet">None of these calls is of this kind.</p>;
  return (
    <Empty title="No calls yet">
      <p>
        Make one in the <a href={linkTo("start")}>quick start</a>.
      </p>
    </Empty>
  );
}
