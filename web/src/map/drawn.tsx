import { useMutation } from "@connectrpc/connect-query";
import { useMemo, useState } from "react";
import { type MapPoint, memories } from "../api";
import { count, counted } from "../format";
import { refresh } from "../session/refresh";
import { READ_MAX, useContents } from "./contents";
import { groupsOf, keysOf } from "./groups";
import { Legend } from "./legend";
import { MapCanvas } from "./map-canvas";
import { type Picked, PickedList } from "./picked";
import { PointTable } from "./point-table";
import { QueryBox } from "./query-box";
import { regionsOf } from "./regions";
import { SidePanel } from "./side-panel";

const TOP_K = 10;

export interface DrawnProps {
  readonly namespace: string;
  readonly points: readonly MapPoint[];
  /** Number of memories in the namespace. */
  readonly held: number;
}

/** Shows the map, with what stands beside and below it. */
export function Drawn({ namespace, points, held }: DrawnProps) {
  const [selected, setSelected] = useState<string>();
  const [picked, setPicked] = useState<Picked>();
  const [colourBy, setColourBy] = useState("");
  const contents = useContents(namespace, points);
  const regions = useMemo(() => regionsOf(points, contents), [points, contents]);
  const keys = useMemo(() => keysOf(contents), [contents]);
  const groups = useMemo(() => (colourBy === "" ? [] : groupsOf(contents, colourBy)), [contents, colourBy]);
  const colours = useMemo(
    () => new Map(groups.flatMap(({ colour, ids }) => ids.map((id) => [id, colour] as const))),
    [groups],
  );
  const pickedIds = useMemo(() => picked && new Set(picked.ids), [picked]);
  const recall = useMutation(memories.recall, { onSuccess: () => refresh("account", "usage") });
  const results = recall.data?.results;
  const hits = useMemo(() => new Map(results?.map(({ id, score }) => [id, score])), [results]);
  const forget = () => {
    setSelected(undefined);
    recall.reset();
  };
  const colour = (key: string) => {
    setColourBy(key);
    setPicked(undefined);
  };
  return (
    <>
      <div className="map">
        <section className="card card-flush" aria-label="Map">
          <MapCanvas
            {...{ points, contents, hits, colours, regions, selected, picked: pickedIds }}
            onSelect={setSelected}
            onPick={(ids) => setPicked({ title: "In the rectangle", ids })}
          />
          <p className="hint map-note">
            {extent(points.length, held)} Texts with similar meanings are close together. Scroll or pinch to
            zoom, drag to move, click a point to read it, and drag with Shift to pick several.
            {points.length > READ_MAX && ` Names and colours come from ${count(READ_MAX)} of them.`}
          </p>
        </section>
        <div className="map-side">
          {selected && (
            <SidePanel
              key={selected}
              {...{ namespace, id: selected }}
              onDeleted={forget}
              onClose={() => setSelected(undefined)}
            />
          )}
          {picked && (
            <PickedList
              {...{ namespace, picked, contents }}
              onSelect={setSelected}
              onClear={() => setPicked(undefined)}
            />
          )}
          <QueryBox
            {...{ results, error: recall.error, busy: recall.isPending, selected }}
            onAsk={(query) => recall.mutate({ query, namespace, topK: TOP_K })}
            onClear={() => recall.reset()}
            onSelect={setSelected}
          />
          <Legend {...{ regions, keys, colourBy, groups, picked }} onColourBy={colour} onPick={setPicked} />
        </div>
      </div>
      <PointTable points={points} hits={hits} onSelect={setSelected} />
    </>
  );
}

function extent(drawn: number, held: number): string {
  return drawn < held
    ? `The map shows ${count(drawn)} of ${count(held)} memories, chosen at random.`
    : `${counted(drawn, "memory", "memories")}.`;
}
