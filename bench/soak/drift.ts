import { percentile } from "../machine.js";
import type { Sample } from "./subject.js";

/** Share of the time that is not judged, because code is compiled and caches and pools fill. */
const WARM_UP = 1 / 4;
/** Until this time, code is compiled, and the heap and its pools grow to what the load needs. */
const SHORT_SECONDS = 600;

export interface Quantity {
  readonly name: string;
  readonly valueIn: (sample: Sample) => number;
  /** Divisor for showing a value. */
  readonly unit: { readonly name: string; readonly size: number };
  /** Maximum rise over the judged time. */
  readonly riseMax: Bound;
  /** Maximum rise in a run so short that it is all warm-up. It catches only gross leaks. */
  readonly shortRiseMax?: Bound;
}

/** A share of the median or this much, whichever is more. */
interface Bound {
  readonly share: number;
  readonly least: number;
}

/** Course of a quantity, in its unit. */
export interface Drift {
  readonly name: string;
  readonly unit: string;
  readonly median: number;
  readonly max: number;
  /** Rise over the whole judged time, by the slope. */
  readonly rise: number;
  readonly riseMax: number;
  readonly flat: boolean;
}

const MEGABYTE = { name: "MB", size: 1e6 };
const COUNT = { name: "", size: 1 };
const MILLISECOND = { name: "ms", size: 1 };

export const QUANTITIES: readonly Quantity[] = [
  {
    name: "Memory (its own)",
    valueIn: (sample) => sample.ownBytes,
    unit: MEGABYTE,
    riseMax: { share: 0.05, least: 8e6 },
    shortRiseMax: { share: 1, least: 0 },
  },
  {
    name: "Heap in use",
    valueIn: (sample) => sample.heapUsedBytes,
    unit: MEGABYTE,
    riseMax: { share: 0.2, least: 8e6 },
    shortRiseMax: { share: 2, least: 0 },
  },
  {
    name: "File descriptors",
    valueIn: (sample) => sample.descriptors,
    unit: COUNT,
    riseMax: { share: 0, least: 3 },
  },
  {
    name: "Active resources of Node",
    valueIn: (sample) => sample.resources,
    unit: COUNT,
    riseMax: { share: 0, least: 5 },
  },
  {
    name: "Event-loop delay, p99",
    valueIn: (sample) => sample.delayP99Ms,
    unit: MILLISECOND,
    // Other load on the machine also shows in this one.
    riseMax: { share: 0.5, least: 5 },
    shortRiseMax: { share: 1, least: 100 },
  },
];

/** Computes the course of each quantity from the end of the warm-up on. */
export function driftsOf(samples: readonly Sample[], quantities = QUANTITIES): Drift[] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) throw new Error("no samples");
  const from = first.seconds + WARM_UP * (last.seconds - first.seconds);
  const judged = samples.filter(({ seconds }) => seconds >= from);
  const short = last.seconds - first.seconds < SHORT_SECONDS;
  return quantities.map((quantity) => driftOf(judged, quantity, short));
}

function driftOf(samples: readonly Sample[], quantity: Quantity, short: boolean): Drift {
  const { name, valueIn, unit } = quantity;
  const riseMax = (short ? quantity.shortRiseMax : undefined) ?? quantity.riseMax;
  const values = samples.map(valueIn);
  const median = percentile(values, 0.5);
  const points = samples.map((sample) => [sample.seconds, valueIn(sample)] as const);
  const seconds = (samples.at(-1)?.seconds ?? 0) - (samples[0]?.seconds ?? 0);
  const rise = slope(points) * seconds;
  const allowed = Math.max(riseMax.share * median, riseMax.least);
  return {
    name,
    unit: unit.name,
    median: median / unit.size,
    max: Math.max(...values) / unit.size,
    rise: rise / unit.size,
    riseMax: allowed / unit.size,
    flat: rise <= allowed,
  };
}

/** Median of the slopes between all pairs of points (Theil–Sen), which single peaks do not move. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], i) =>
    points.slice(i + 1).map(([laterX, laterY]) => (laterY - y) / (laterX - x)),
  );
  return percentile(slopes, 0.5);
}
