import { useEffect, useRef, useState } from "react";
import type { MapPoint } from "../api";
import { Icon } from "../parts/icon";
import { theme } from "../theme";
import { useStore } from "../use-store";
import type { Contents } from "./contents";
import { draw } from "./draw";
import type { Region } from "./regions";
import { useGestures } from "./use-gestures";
import { type Box, nearest, overview, place, type Size, type View, within, zoom } from "./view";

const NEAR_PX = 14;
const ZOOM_STEP = 1.6;

export interface MapCanvasProps {
  readonly points: readonly MapPoint[];
  readonly hits: ReadonlyMap<string, number>;
  readonly contents: Contents;
  readonly colours: ReadonlyMap<string, number>;
  readonly regions: readonly Region[];
  readonly picked: ReadonlySet<string> | undefined;
  readonly selected: string | undefined;
  onSelect(id: string | undefined): void;
  /** Called with the memories in a rectangle. */
  onPick(ids: readonly string[]): void;
}

/** Draws the map. Keyboards and screen readers use the table below it. */
export function MapCanvas({ onSelect, onPick, contents, ...shown }: MapCanvasProps) {
  const { points, hits, selected, colours, regions, picked } = shown;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState<Size>({ width: 600, height: 480 });
  const [view, setView] = useState(() => overview(size));
  const [hovered, setHovered] = useState<string>();
  const [box, setBox] = useState<Box>();
  const shownTheme = useStore(theme);

  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      const { width, height } = entry.contentRect;
      setSize({ width, height });
      setView(overview({ width, height }));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useGestures({
    canvas,
    size,
    setView,
    onHover: (at) => setHovered(at && nearest(points, view, at, NEAR_PX)?.id),
    onClick: (at) => onSelect(nearest(points, view, at, NEAR_PX)?.id),
    onBox: setBox,
    onPick: (drawn) => onPick(within(points, view, drawn).map(({ id }) => id)),
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme decides the colours that are drawn
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const scene = { points, hits, selected, colours, regions, picked, view, size, hovered, box };
      if (canvas.current) draw(canvas.current, scene);
    });
    return () => cancelAnimationFrame(frame);
  }, [points, hits, selected, colours, regions, picked, view, size, hovered, box, shownTheme]);

  const zoomBy = (factor: number) =>
    setView((now) => zoom(now, { x: size.width / 2, y: size.height / 2 }, factor, size));
  return (
    <div className="map-box">
      <canvas
        ref={canvas}
        data-pointing={hovered !== undefined}
        role="img"
        aria-label="Map of the memories as points. The table below lists the same memories."
      />
      <Tip {...{ points, contents, hovered, view }} />
      <div className="map-tools">
        <button type="button" className="button-icon" aria-label="Zoom in" onClick={() => zoomBy(ZOOM_STEP)}>
          <Icon name="plus" />
        </button>
        <button
          type="button"
          className="button-icon"
          aria-label="Zoom out"
          onClick={() => zoomBy(1 / ZOOM_STEP)}
        >
          <Icon name="minus" />
        </button>
        <button
          type="button"
          className="button-icon"
          aria-label="Show all"
          onClick={() => setView(overview(size))}
        >
          <Icon name="reset" />
        </button>
      </div>
    </div>
  );
}

interface TipProps {
  readonly points: readonly MapPoint[];
  readonly contents: Contents;
  readonly hovered: string | undefined;
  readonly view: View;
}

/** Shows the beginning of the text whose point the pointer is on. */
function Tip({ points, contents, hovered, view }: TipProps) {
  const content = hovered !== undefined && contents.get(hovered);
  const point = content && points.find(({ id }) => id === hovered);
  if (!content || !point) return null;
  const { x, y } = place(view, point);
  return (
    <p className="map-tip" dir="auto" aria-hidden="true" style={{ left: x, top: y }}>
      {content.text}
    </p>
  );
}
