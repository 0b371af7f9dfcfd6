import { type PointerEvent, useState } from "react";
import { counted } from "../format";
import { useWidth } from "../parts/use-width";
import type { Slot } from "./slots";
import { niceTicks } from "./ticks";

const HEIGHT = 200;
const LEFT = 40;
const BOTTOM = 24;
const TOP = 8;

/** Width of a label and the space around it. */
const LABEL = 64;

/** Plots the stores and recalls of each day or hour as stacked bars. A table below shows the same figures. */
export function Plot({ slots }: { slots: readonly Slot[] }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [pointed, setPointed] = useState<number>();
  const ticks = niceTicks(Math.max(...slots.map(({ stores, recalls }) => stores + recalls), 1));
  const top = ticks.at(-1) ?? 1;
  const step = Math.max(width - LEFT, 1) / Math.max(slots.length, 1);
  const y = (value: number) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
  const point = (event: PointerEvent<SVGSVGElement>) => {
    const { left } = event.currentTarget.getBoundingClientRect();
    const index = Math.floor((event.clientX - left - LEFT) / step);
    setPointed(slots[index] ? index : undefined);
  };
  return (
    <div ref={box} className="plot">
      <Legend slot={pointed === undefined ? undefined : slots[pointed]} />
      <svg
        width={width}
        height={HEIGHT}
        aria-hidden="true"
        onPointerMove={point}
        onPointerLeave={() => setPointed(undefined)}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <line className="plot-grid" x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} />
            <text x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
              {tick}
            </text>
          </g>
        ))}
        {slots.map((slot, index) => (
          <Bar key={slot.key} slot={slot} x={LEFT + index * step} step={step} y={y} lit={index === pointed} />
        ))}
        {slots.map((slot, index) => (
          <Label key={slot.key} name={slot.axis} step={step} fromEnd={slots.length - 1 - index} end={width} />
        ))}
      </svg>
    </div>
  );
}

interface BarProps {
  readonly slot: Slot;
  readonly x: number;
  readonly step: number;
  readonly lit: boolean;
  y(value: number): number;
}

function Bar({ slot, x, step, y, lit }: BarProps) {
  const width = Math.min(Math.max(step * 0.7, 2), 40);
  const left = x + (step - width) / 2;
  const { stores, recalls } = slot;
  return (
    <g data-lit={lit} className="plot-day">
      <rect className="plot-ground" x={x} y={TOP} width={step} height={HEIGHT - TOP - BOTTOM} />
      <rect className="plot-recalls" x={left} y={y(recalls)} width={width} height={y(0) - y(recalls)} />
      <rect
        className="plot-stores"
        x={left}
        y={y(stores + recalls)}
        width={width}
        height={y(recalls) - y(stores + recalls)}
      />
    </g>
  );
}

interface LabelProps {
  readonly name: string;
  readonly step: number;
  /** Number of bars that follow. */
  readonly fromEnd: number;
  /** Right end of the plot. */
  readonly end: number;
}

/** Labels as many bars as there is room for, counted back from the last one. */
function Label({ name, step, fromEnd, end }: LabelProps) {
  if (fromEnd % Math.ceil(LABEL / step) !== 0) return null;
  const isAtEnd = fromEnd === 0 && step < LABEL;
  return (
    <text
      x={isAtEnd ? end : end - (fromEnd + 0.5) * step}
      y={HEIGHT - 6}
      textAnchor={isAtEnd ? "end" : "middle"}
    >
      {name}
    </text>
  );
}

function Legend({ slot }: { slot: Slot | undefined }) {
  return (
    <p className="legend">
      <span className="legend-stores">{slot ? counted(slot.stores, "store") : "Stores"}</span>
      <span className="legend-recalls">{slot ? counted(slot.recalls, "recall") : "Recalls"}</span>
      {slot && <span className="quiet">{slot.name}</span>}
    </p>
  );
}
