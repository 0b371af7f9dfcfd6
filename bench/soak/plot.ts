import { fixed, style, text } from "../compare/line-chart.js";
import type { Sample } from "./subject.js";

/** Panel that shows a quantity over time, from 0 up. */
export interface Panel {
  readonly title: string;
  readonly of: (sample: Sample) => number;
}

const WIDTH = 760;
const PANEL = { left: 64, right: WIDTH - 24, height: 110, top: 40, gap: 46 };
const MINUTE_TICKS = 6;

/** Draws panels under each other over one time axis, as SVG. All begin at 0, so that flat looks flat. */
export function soakPlot(
  { title, samples }: { title: string; samples: readonly Sample[] },
  panels: readonly Panel[],
): string {
  const height = PANEL.top + panels.length * (PANEL.height + PANEL.gap);
  const minutes = (samples.at(-1)?.seconds ?? 0) / 60;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">`,
    style(),
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    text("title", [PANEL.left, 24], title),
    ...panels.map((panel, i) => panelOf(panel, { i, samples, minutes })),
    text("tick middle", [(PANEL.left + PANEL.right) / 2, height - 6], "minutes"),
    "</svg>",
    "",
  ].join("\n");
}

function panelOf(
  { title, of }: Panel,
  { i, samples, minutes }: { i: number; samples: readonly Sample[]; minutes: number },
): string {
  const top = PANEL.top + i * (PANEL.height + PANEL.gap) + 18;
  const bottom = top + PANEL.height - 18;
  const most = roundUp(Math.max(...samples.map(of)));
  const y = (value: number) => bottom - (value / most) * (bottom - top);
  const x = (minute: number) => PANEL.left + (minute / minutes) * (PANEL.right - PANEL.left);
  const points = samples
    .map((sample) => `${fixed(x(sample.seconds / 60))},${fixed(y(of(sample)))}`)
    .join(" ");
  const tickMinutes = Array.from({ length: MINUTE_TICKS + 1 }, (_, tick) => (tick * minutes) / MINUTE_TICKS);
  return [
    text("name", [PANEL.left, top - 6], title),
    ...[0, most / 2, most].map(
      (value) =>
        `<path class="grid" d="M${PANEL.left} ${fixed(y(value))}H${PANEL.right}"/>\n${text("tick end", [PANEL.left - 8, y(value) + 4], value.toLocaleString("en-US"))}`,
    ),
    ...tickMinutes.map((minute) => text("tick middle", [x(minute), bottom + 16], String(Math.round(minute)))),
    `<polyline class="line colour${i}" points="${points}"/>`,
  ].join("\n");
}

/** Returns the next of 1, 2, 4, 6, 8, 10, 20 …, whose halves are easy to read, too. */
function roundUp(value: number): number {
  const ten = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return ([1, 2, 4, 6, 8, 10].find((each) => each * ten >= value) as number) * ten;
}
