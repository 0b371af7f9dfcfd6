import { type PointerEvent, useState } from "react";
import type { DayUsage } from "../api";
import { counted, monthAndDay } from "../format";
import { useWidth } from "../parts/use-width";
import { niceTicks } from "./ticks";

const HEIGHT = 200;
const LEFT = 40;
const BOTTOM = 24;
const TOP = 8;

/** Plots each day's stores and recalls as stacked bars. A table below shows the same figures. */
export function DayPlot({ days }: { days: readonly DayUsage[] }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [pointed, setPointed] = useState<number>();
  const ticks = niceTicks(Math.max(...days.map((day) => day.stores + day.recalls), 1));
  const top = ticks.at(-1) ?? 1;
  const step = Math.max(width - LEFT, 1) / Math.max(days.length, 1);
  const y = (value: number) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
  const point = (event: PointerEvent<SVGSVGElement>) => {
    const { left } = event.currentTarget.getBoundingClientRect();
    const index = Math.floor((event.clientX - left - LEFT) / step);
    setPointed(days[index] ? index : undefined);
  };
  return (
    <div ref={box} className="plot">
      <Legend day={pointed === undefined ? undefined : days[pointed]} />
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
        {days.map((day, index) => (
          <Bar key={day.date} day={day} x={LEFT + index * step} step={step} y={y} lit={index === pointed} />
        ))}
        {days.map((day, index) => (
          <DayLabel
            key={day.date}
            day={day}
            index={index}
            days={days.length}
            x={LEFT + index * step + step / 2}
          />
        ))}
      </svg>
    </div>
  );
}

interface BarProps {
  readonly day: DayUsage;
  readonly x: number;
  readonly step: number;
  readonly lit: boolean;
  y(value: number): number;
}

function Bar({ day, x, step, y, lit }: BarProps) {
  const width = Math.min(Math.max(step * 0.7, 2), 40);
  const left = x + (step - width) / 2;
  const { stores, recalls } = day;
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

/** Labels some of the days, counted back from today. */
function DayLabel({ day, index, days, x }: { day: DayUsage; index: number; days: number; x: number }) {
  const every = days <= 7 ? 1 : days <= 30 ? 7 : 21;
  if ((days - 1 - index) % every !== 0) return null;
  const last = index === days - 1 && days > 7;
  return (
    <text x={last ? x + 4 : x} y={HEIGHT - 6} textAnchor={last ? "end" : "middle"}>
      {monthAndDay(day.date)}
    </text>
  );
}

function Legend({ day }: { day: DayUsage | undefined }) {
  return (
    <p className="legend">
      <span className="legend-stores">{day ? counted(day.stores, "store") : "Stores"}</span>
      <span className="legend-recalls">{day ? counted(day.recalls, "recall") : "Recalls"}</span>
      {day && <span className="quiet">{monthAndDay(day.date)}</span>}
    </p>
  );
}
