/** A line with a value for each x. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  /** Role of a line that the others are compared with. */
  readonly role?: "main" | "floor";
}

export interface Chart {
  readonly title: string;
  /** Values of x. Both axes are logarithmic, because sizes and systems differ by factors of ten. */
  readonly xs: readonly number[];
  readonly xLabel: string;
  readonly series: readonly Series[];
}

const WIDTH = 760;
const HEIGHT = 380;
const PLOT = { left: 64, top: 48, right: WIDTH - 176, bottom: HEIGHT - 52 };
/** Space between the names at the lines' ends. */
const NAME_HEIGHT = 16;

/** Tol's bright palette, which works with all kinds of colour vision. It is lighter on a dark background. */
const COLOURS = [
  { light: "#4477aa", dark: "#77aadd" },
  { light: "#cc3311", dark: "#ee8866" },
  { light: "#228833", dark: "#44bb99" },
  { light: "#aa3377", dark: "#ffaabb" },
  { light: "#777777", dark: "#aaaaaa" },
  { light: "#999933", dark: "#dddd77" },
  { light: "#66ccee", dark: "#99ddff" },
];
const MARKERS = [circle, square, diamond, triangle, cross, circle];

/**
 * Draws a line for each series over logarithmic axes, as SVG that follows the reader's light or dark scheme.
 */
export function lineChart({ title, xs, xLabel, series }: Chart): string {
  const values = series.flatMap((one) => one.values);
  const x = scale([Math.min(...xs), Math.max(...xs)], [PLOT.left + 16, PLOT.right - 12]);
  const ticks = ticksAround(Math.min(...values), Math.max(...values));
  const y = scale([ticks[0] as number, ticks.at(-1) as number], [PLOT.bottom, PLOT.top]);
  const names = spread(series.map((one) => y(one.values.at(-1) as number)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">`,
    style(),
    `<rect class="ground" width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text class="title" x="${PLOT.left}" y="24">${title}</text>`,
    ...ticks.map((tick) => gridLine(y(tick), number(tick))),
    ...xs.map((one) => text("tick middle", [x(one), PLOT.bottom + 20], one.toLocaleString("en-US"))),
    text("tick middle", [(PLOT.left + PLOT.right) / 2, HEIGHT - 10], xLabel),
    ...series.map((one, i) =>
      line(
        one.values.map((value, at) => [x(xs[at] as number), y(value)]),
        { i, role: one.role ?? "" },
      ),
    ),
    ...series.map((one, i) => text(`name colour${i}`, [PLOT.right + 6, (names[i] as number) + 4], one.name)),
    "</svg>",
    "",
  ].join("\n");
}

type Point = readonly [x: number, y: number];

export function style(): string {
  const colours = (scheme: "light" | "dark") =>
    COLOURS.map(
      ({ [scheme]: colour }, i) =>
        `path.colour${i}, polyline.colour${i} { stroke: ${colour} } text.colour${i}, path.colour${i} { fill: ${colour} }`,
    ).join("\n    ");
  return `<style>
    text { font: 13px system-ui, sans-serif; fill: #333 }
    .title { font-size: 15px; font-weight: 600 } .tick { font-size: 12px } .middle { text-anchor: middle } .end { text-anchor: end }
    .ground { fill: #fff } .grid { stroke: #ddd } .line { fill: none; stroke-width: 2 } .main { stroke-width: 3.5 } .floor { stroke-dasharray: 5 4 }
    ${colours("light")}
    @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .ground { fill: #15181c } .grid { stroke: #3a3f45 }
    ${colours("dark")}
    }
  </style>`;
}

function line(points: readonly Point[], { i, role }: { i: number; role: string }): string {
  const marker = MARKERS[i % MARKERS.length] as (point: Point) => string;
  const path = points.map(([x, y]) => `${fixed(x)},${fixed(y)}`).join(" ");
  const markers = points.map((point) => `<path class="marker colour${i}" d="${marker(point)}"/>`);
  return [`<polyline class="line ${role} colour${i}" points="${path}"/>`, ...markers].join("\n");
}

function gridLine(y: number, label: string): string {
  const at = fixed(y);
  return `<path class="grid" d="M${PLOT.left} ${at}H${PLOT.right}"/>\n${text("tick end", [PLOT.left - 8, y + 4], label)}`;
}

export function text(classes: string, [x, y]: Point, content: string): string {
  return `<text class="${classes}" x="${fixed(x)}" y="${fixed(y)}">${content}</text>`;
}

/** Converts values to pixels by their logarithms. */
function scale([from, to]: Point, [first, last]: Point): (value: number) => number {
  const share = (value: number) => (to === from ? 0.5 : Math.log(value / from) / Math.log(to / from));
  return (value) => first + share(value) * (last - first);
}

/** Lists 1, 2, 5, 10, 20 … from the last one below the least value to the first one above the greatest. */
function ticksAround(least: number, greatest: number): number[] {
  const all = Array.from({ length: 12 }, (_, i) => 10 ** (i - 4)).flatMap((ten) => [ten, 2 * ten, 5 * ten]);
  const first = all.findLastIndex((tick) => tick <= least);
  const last = all.findIndex((tick) => tick >= greatest);
  return all.slice(first, last + 1);
}

/** Moves heights apart in their order, so that names do not cover each other. */
function spread(heights: readonly number[]): number[] {
  const moved = [...heights];
  const order = [...heights.keys()].sort((a, b) => (heights[a] as number) - (heights[b] as number));
  for (const [at, i] of order.entries()) {
    const above = moved[order[at - 1] as number];
    if (above !== undefined) moved[i] = Math.max(moved[i] as number, above + NAME_HEIGHT);
  }
  return moved;
}

function number(value: number): string {
  return value >= 1 ? value.toLocaleString("en-US") : String(Number(value.toPrecision(1)));
}

export function fixed(value: number): string {
  return String(Number(value.toFixed(1)));
}

function circle([x, y]: Point): string {
  return `M${fixed(x - 4)} ${fixed(y)}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`;
}

function square([x, y]: Point): string {
  return `M${fixed(x - 4)} ${fixed(y - 4)}h8v8h-8z`;
}

function diamond([x, y]: Point): string {
  return `M${fixed(x)} ${fixed(y - 5)}l5 5l-5 5l-5 -5z`;
}

function triangle([x, y]: Point): string {
  return `M${fixed(x)} ${fixed(y - 5)}l5 9h-10z`;
}

function cross([x, y]: Point): string {
  return `M${fixed(x - 4)} ${fixed(y - 4)}l8 8m0 -8l-8 8`;
}
