import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { memories } from "../../api";
import { chosenBy, type Listing } from "./listing";
import { useLive } from "./use-live";
import { useSelection } from "./use-selection";

/** Memories of a page of the list; while it is watched, it has one page alone. */
const PAGE_SIZE = 50;
const LIVE_PAGE_SIZE = 100;

export type MemoryListing = ReturnType<typeof useMemoryList>;

/** Lists the memories of a namespace, watches it if one wants that, and keeps which of them are selected. */
export function useMemoryList(namespace: string, listing: Listing) {
  const [isLive, setLive] = useState(false);
  const { state, fresh } = useLive(namespace, isLive);
  const pageSize = isLive ? LIVE_PAGE_SIZE : PAGE_SIZE;
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    memories.listMemories,
    { namespace, pageToken: "", pageSize, order: listing.order, ...chosenBy(listing) },
    {
      pageParamKey: "pageToken",
      getNextPageParam: (page) => page.nextPageToken || undefined,
      enabled: listing.question === "",
    },
  );
  const listed = data?.pages.flatMap((page) => page.memories) ?? [];
  const selection = useSelection(listed.map(({ id }) => id));
  const more =
    hasNextPage && !isLive ? { busy: isFetchingNextPage, onMore: () => fetchNextPage() } : undefined;
  return {
    listed,
    error,
    isLoaded: data !== undefined,
    more,
    fresh,
    selection,
    live: { state, isLive, setLive },
  };
}
