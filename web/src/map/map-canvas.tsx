import { useEffect, useRef, useState } from "react";
import type { MapPoint } from "../api";
import { Icon } from "../parts/icon";
import { theme } from "../theme";
import { useStore } from "../use-store";
import { draw } from "./draw";
import { useGestures } from "./use-gestures";
import { nearest, overview, type Size, zoom } from "./view";

const NEAR_PX = 14;
const ZOOM_STEP = 1.6;

export interface MapCanvasProps {
  readonly points: readonly MapPoint[];
  readonly hits: ReadonlyMap<string, number>;
  readonly selected: string | undefined;
  onSelect(id: string | undefined): void;
}

/** Draws the map. Keyboards and screen readers use the table below it. */
export function MapCanvas({ points, hits, selected, onSelect }: MapCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState<Size>({ width: 600, height: 480 });
  const [view, setView] = useState(() => overview(size));
  const [hovered, setHovered] = useState<string>();
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
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme decides the colours that are drawn
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      if (canvas.current) draw(canvas.current, { points, view, size, hits, selected, hovered });
    });
    return () => cancelAnimationFrame(frame);
  }, [points, view, size, hits, selected, hovered, shownTheme]);

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
