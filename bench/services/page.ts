import { withTables } from "../../eval/page.js";
import { table } from "../compare/table.js";
import type { Service } from "./service.js";

/** Figures of a run, as `bench/services.json` keeps them. */
export type Figures = Readonly<Record<string, ServiceFigures>>;

export interface ServiceFigures extends Measured {
  readonly date: string;
  readonly machine: string;
  /** Processes that ran when it began. */
  readonly load: number;
}

export interface Measured extends Pick<Service, "name" | "version" | "called" | "finds"> {
  /** Memories that it held before. */
  readonly memories: number;
  readonly store: Quantiles;
  readonly recall: Quantiles;
  /** Share of the stores that the very next recall finds. */
  readonly visibleAtOnce: number;
  /** Time from a store's answer until a recall begins that finds it. */
  readonly visible: Quantiles;
}

export interface Quantiles {
  /** null where it never was, which JSON has no number for. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

/** Replaces the page's table of services by that of a run. */
export function withServices(page: string, figures: Figures): string {
  return withTables(page, { services: servicesTable }, figures, "npm run bench -- services");
}

export function servicesTable(figures: Figures): string {
  const services = Object.values(figures);
  const rows = services.map(({ name, version, memories, called, finds, store, recall, ...found }) => [
    ...[`${name} ${version}`, called, finds, memories.toLocaleString("en-US"), ...ms(store), ...ms(recall)],
    found.visibleAtOnce === 1
      ? "the next recall"
      : `${Math.round(found.visibleAtOnce * 100)} % the next recall, p99 ${ms(found.visible)[1]}`,
  ]);
  const columns = ["Service", "Called", "Finds", "Memories", "Store p50", "p99", "Recall p50", "p99"];
  const dates = [...new Set(services.map(({ date, machine }) => `${date}, ${machine}`))].join("; ");
  const loads = services.map(({ load }) => load);
  const busy = `load ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`;
  return `One caller, in ms. ${dates}, ${busy}.\n\n${table([...columns, "A write is found by"], rows)}`;
}

function ms({ p50Ms, p99Ms }: Quantiles): string[] {
  return [p50Ms, p99Ms].map((value) => (value === null || value === Infinity ? "never" : value.toFixed(1)));
}
