import { type Dispatch, type RefObject, type SetStateAction, useEffect, useRef } from "react";
import { type Box, type Point, pan, type Size, type View, zoom } from "./view";

/** A press that moves less than this, in CSS pixels, is a click. */
const CLICK_PX = 4;

interface Options {
  readonly canvas: RefObject<HTMLCanvasElement | null>;
  readonly size: Size;
  readonly setView: Dispatch<SetStateAction<View>>;
  onHover(at: Point | undefined): void;
  onClick(at: Point): void;
  /** Called while a rectangle is drawn. */
  onBox(box: Box | undefined): void;
  /** Called with the rectangle that was drawn. */
  onPick(box: Box): void;
}

/**
 * Handles zooming by wheel or pinch, panning by dragging, selecting one by click and several by dragging with
 * Shift, for mouse, pen and touch.
 */
export function useGestures(options: Options): void {
  const latest = useRef(options);
  latest.current = options;
  const { canvas } = options;
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const stop = new AbortController();
    listen(element, latest, stop.signal);
    return () => stop.abort();
  }, [canvas]);
}

function listen(element: HTMLCanvasElement, latest: RefObject<Options>, signal: AbortSignal): void {
  const pressed = new Map<number, Point>();
  let moved = 0;
  let corner: Point | undefined;
  const at = (event: MouseEvent): Point => ({ x: event.offsetX, y: event.offsetY });

  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const { setView, size } = latest.current;
    setView((view) => zoom(view, at(event), Math.exp(-event.deltaY * 0.002), size));
  };
  const onDown = (event: PointerEvent) => {
    element.setPointerCapture(event.pointerId);
    if (pressed.size === 0) {
      moved = 0;
      corner = event.shiftKey ? at(event) : undefined;
    }
    pressed.set(event.pointerId, at(event));
  };
  const onMove = (event: PointerEvent) => {
    const { setView, size, onHover } = latest.current;
    const before = pressed.get(event.pointerId);
    if (!before) return onHover(at(event));
    const now = at(event);
    const by = { x: now.x - before.x, y: now.y - before.y };
    moved += Math.hypot(by.x, by.y);
    const other = [...pressed].find(([id]) => id !== event.pointerId)?.[1];
    if (corner) latest.current.onBox({ from: corner, to: now });
    else if (other) setView((view) => pinch(view, { before, now, other }, size));
    else if (moved > CLICK_PX) setView((view) => pan(view, by, size));
    pressed.set(event.pointerId, now);
  };
  const onUp = (event: PointerEvent) => {
    const wasPressed = pressed.delete(event.pointerId);
    const isDone = event.type === "pointerup" && wasPressed;
    if (isDone && moved <= CLICK_PX) latest.current.onClick(at(event));
    else if (isDone && corner) latest.current.onPick({ from: corner, to: at(event) });
    if (corner) latest.current.onBox(undefined);
    corner = undefined;
  };
  // The listener is not passive, so that the page does not scroll while the map zooms.
  element.addEventListener("wheel", onWheel, { passive: false, signal });
  element.addEventListener("pointerdown", onDown, { signal });
  element.addEventListener("pointermove", onMove, { signal });
  element.addEventListener("pointerup", onUp, { signal });
  element.addEventListener("pointercancel", onUp, { signal });
  element.addEventListener("pointerleave", () => latest.current.onHover(undefined), { signal });
}

function pinch(
  view: View,
  { before, now, other }: Record<"before" | "now" | "other", Point>,
  size: Size,
): View {
  const distance = (point: Point) => Math.max(Math.hypot(point.x - other.x, point.y - other.y), 1);
  return zoom(view, other, distance(now) / distance(before), size);
}
