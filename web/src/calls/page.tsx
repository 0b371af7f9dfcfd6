import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useEffect, useState } from "react";
import { accounts } from "../api";
import { ErrorNote } from "../errors";
import { dateTime } from "../format";
import { whileBusy } from "../parts/busy";
import { Icon } from "../parts/icon";
import { More } from "../parts/more";
import { Empty, Loading, Page } from "../parts/page";
import { linkTo, setQuery, useRoute } from "../route";
import { refresh } from "../session/refresh";
import { useRights } from "../session/rights";
import { CallTable } from "./call-table";
import { ERRORS, FilterFields, filterOf, queryOf, requestOf } from "./filter";
import { useKeyNames } from "./key-names";

/** Calls that are loaded at once, and that are shown before one asks for more. */
const PAGE_SIZE = 100;
const ROWS_MIN = 50;
/** Pages that are read for chosen calls before one asks for more: each looks through a part of the record. */
const PAGES_SEARCHED = 10;

/** Page of the account's last calls. */
export function CallsPage() {
  const filter = filterOf(useRoute().query);
  const { namespace } = useRights();
  const keys = useKeyNames();
  const { data, error, isFetching, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(
      accounts.listRecentCalls,
      { pageToken: "", pageSize: PAGE_SIZE, ...requestOf(filter) },
      { pageParamKey: "pageToken", getNextPageParam: (page) => page.nextPageToken || undefined },
    );
  const [searched, setSearched] = useState(PAGES_SEARCHED);
  const pages = data?.pages.length ?? 0;
  const calls = data?.pages.flatMap((page) => page.calls) ?? [];
  const chosen = Object.keys(queryOf(filter));
  const isFiltered = chosen.length > 0;
  // A page of few chosen calls may have none of them, and be followed by others.
  const seeks = hasNextPage && !error && calls.length < ROWS_MIN && pages < searched;
  useEffect(() => {
    if (seeks && !isFetchingNextPage) void fetchNextPage();
  }, [seeks, isFetchingNextPage, fetchNextPage]);
  const reload = () => {
    void refetch();
    // A call may be of a key that is new.
    refresh("keys");
  };
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
        <button type="button" {...whileBusy(isFetching)} onClick={reload}>
          <Icon name="rotate" /> {isFetching ? "Refreshing…" : "Refresh"}
        </button>
      }
    >
      <FilterFields
        filter={filter}
        keys={keys}
        onChange={(next) => {
          setSearched(PAGES_SEARCHED);
          setQuery(queryOf(next));
        }}
      />
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {data && calls.length === 0 && !seeks && (
        <Nothing
          isFiltered={isFiltered}
          // Others may have failed, and older ones.
          isNoError={filter.code === ERRORS && chosen.length === 1 && !hasNextPage}
        />
      )}
      {calls.length > 0 && <CallTable calls={calls} nameOf={keys.nameOf} />}
      {isFiltered && hasNextPage && (
        <p className="hint" role="status">
          {seeks ? "Older calls are being searched." : "There may be older ones."}
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

function Nothing({ isFiltered, isNoError }: { isFiltered: boolean; isNoError: boolean }) {
  if (isNoError) {
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
