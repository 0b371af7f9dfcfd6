/** Visible part of the PCA projection: pixels per unit, and the position of the origin. */
export interface View {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

const MARGIN = 24;
const ZOOM_MAX = 60;

/** Returns a view of everything from -1 to 1, with a margin. */
export function overview({ width, height }: Size): View {
  const scale = Math.max((Math.min(width, height) - 2 * MARGIN) / 2, 1);
  return { scale, x: width / 2, y: height / 2 };
}

/** Converts a point of the projection to canvas coordinates, whose y axis points down. */
export function place(view: View, { x, y }: Point): Point {
  return { x: view.x + x * view.scale, y: view.y - y * view.scale };
}

/** Zooms around a point of the canvas. That point does not move. */
export function zoom(view: View, { x, y }: Point, factor: number, size: Size): View {
  const least = overview(size).scale;
  const scale = Math.min(Math.max(view.scale * factor, least), least * ZOOM_MAX);
  const ratio = scale / view.scale;
  return keepInSight({ scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio }, size);
}

export function pan(view: View, by: Point, size: Size): View {
  return keepInSight({ ...view, x: view.x + by.x, y: view.y + by.y }, size);
}

/** A rectangle of the canvas, by two opposite corners. */
export interface Box {
  readonly from: Point;
  readonly to: Point;
}

/** Lists the points that a rectangle of the canvas has in it. */
export function within<T extends Point>(points: readonly T[], view: View, { from, to }: Box): T[] {
  const isBetween = (value: number, a: number, b: number) =>
    value >= Math.min(a, b) && value <= Math.max(a, b);
  return points.filter((point) => {
    const { x, y } = place(view, point);
    return isBetween(x, from.x, to.x) && isBetween(y, from.y, to.y);
  });
}

/** Finds the point nearest to a position on the canvas, at most `withinPx` away. */
export function nearest<T extends Point>(
  points: readonly T[],
  view: View,
  at: Point,
  withinPx: number,
): T | undefined {
  let best: T | undefined;
  let least = withinPx ** 2;
  for (const point of points) {
    const { x, y } = place(view, point);
    const distance = (x - at.x) ** 2 + (y - at.y) ** 2;
    if (distance > least) continue;
    best = point;
    least = distance;
  }
  return best;
}

/** Keeps the projection from being moved off the canvas. */
function keepInSight(view: View, { width, height }: Size): View {
  const clamp = (value: number, length: number) =>
    Math.min(Math.max(value, MARGIN - view.scale), length - MARGIN + view.scale);
  return { ...view, x: clamp(view.x, width), y: clamp(view.y, height) };
}
