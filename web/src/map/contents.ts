import type { JsonObject } from "@bufbuild/protobuf";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { MapPoint } from "../api";
import { memoryClient } from "../session/client";
import { wordsOf } from "./words";

/** Number of memories that are read to label and to colour a map. */
export const READ_MAX = 1_024;
/** Ids of one call, and calls at most: long memories take several for the ids of one. */
const IDS_MAX = 256;
const CALLS_MAX = 16;
/** Characters of a text that are kept to be shown. */
const SHOWN_CHARS = 200;

/** Part of a memory that the map shows. */
export interface Content {
  /** The beginning of its text. */
  readonly text: string;
  readonly words: ReadonlySet<string>;
  readonly metadata: JsonObject;
}

export type Contents = ReadonlyMap<string, Content>;

const NONE: Contents = new Map();

/** Reads the memories of a map, or an even sample of them, for its labels, colours and tooltips. */
export function useContents(namespace: string, points: readonly MapPoint[]): Contents {
  const ids = useMemo(() => sampleOf(points), [points]);
  const { data = NONE } = useQuery({
    queryKey: ["contents of a map", namespace, ids],
    queryFn: ({ signal }) => read({ namespace, ids }, signal),
    enabled: ids.length > 0,
    staleTime: 60_000,
  });
  return data;
}

function sampleOf(points: readonly MapPoint[]): string[] {
  const step = Math.max(1, points.length / READ_MAX);
  const many = Math.min(points.length, READ_MAX);
  return Array.from({ length: many }, (_, i) => (points[Math.floor(i * step)] as MapPoint).id);
}

async function read(
  { namespace, ids }: { namespace: string; ids: readonly string[] },
  signal: AbortSignal,
): Promise<Contents> {
  const contents = new Map<string, Content>();
  let left = [...ids];
  for (let calls = 0; left.length > 0 && calls < CALLS_MAX; calls++) {
    const asked = left.slice(0, IDS_MAX);
    const { memories, remaining } = await memoryClient.getMemories({ namespace, ids: asked }, { signal });
    left = [...remaining, ...left.slice(IDS_MAX)];
    for (const { id, text, metadata = {} } of memories) {
      contents.set(id, { text: text.slice(0, SHOWN_CHARS), words: wordsOf(text), metadata });
    }
  }
  return contents;
}
