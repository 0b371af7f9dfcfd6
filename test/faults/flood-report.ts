import type { Compared } from "./beside.js";
import type { Crowded, KeyFlood } from "./flood.js";

/** Maximum ratio of the disturbed p99 to the calm one. */
const P99_RATIO_MAX = 2;
const MEMORY_RATIO_MAX = 1.2;
/**
 * Maximum memory of a connection. Thousands of open ones take some 7,500 bytes each; with few of them, other
 * memory varies as much again.
 */
const CONNECTION_BYTES_MAX = 24_000;

/** Lists the broken promises. */
export function problemsOf(compared: Compared): string[] {
  const { calls, failures, p99Ratio } = compared;
  return [
    ...(failures.length > 0
      ? [`${failures.length} of ${calls} calls failed: ${failures.slice(0, 3).join(", ")}`]
      : []),
    ...(p99Ratio < P99_RATIO_MAX ? [] : [`p99 is ${p99Ratio.toFixed(2)} times what it is without`]),
    ...(memoryRatioOf(compared) < MEMORY_RATIO_MAX
      ? []
      : [`memory is ${memoryRatioOf(compared).toFixed(2)} times what it is without`]),
  ];
}

export function memoryRatioOf({ memory }: Compared): number {
  return memory.disturbed / memory.calm;
}

/** Lists the broken promises about connections, whose memory counts for each connection. */
export function connectionProblemsOf({ connectionBytes }: Crowded): string[] {
  if (connectionBytes < CONNECTION_BYTES_MAX) return [];
  return [`a connection takes ${Math.round(connectionBytes)} bytes; the limit is ${CONNECTION_BYTES_MAX}`];
}

/** Lists the broken promises about the flooding key: it gets its limit and pays for no more. */
export function keyProblemsOf({ sent, accepted, refused, acceptedMax, charged }: KeyFlood): string[] {
  return [
    ...(accepted <= acceptedMax ? [] : [`${accepted} were accepted, where ${acceptedMax} may be`]),
    ...(accepted > acceptedMax / 2 ? [] : [`only ${accepted} were accepted, where ${acceptedMax} may be`]),
    ...(refused > sent / 2 ? [] : [`only ${refused} of ${sent} were refused`]),
    ...(charged >= accepted && charged <= acceptedMax ? [] : [`${charged} were paid, ${accepted} answered`]),
  ];
}

/** Writes a Markdown table with a row for each disturbance. */
export function tableOf(rows: Readonly<Record<string, Compared>>): string {
  const head = [
    "",
    "calls",
    "failed",
    "p50",
    "p50, disturbed",
    "ratio",
    "p99",
    "p99, disturbed",
    "ratio",
    "memory",
    "memory, disturbed",
    "ratio",
  ];
  const mb = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const cells = ([name, compared]: [string, Compared]) => [
    ...[
      name,
      compared.calls,
      compared.failures.length,
      ms(compared.calm.p50),
      ms(compared.disturbed.p50),
      compared.p50Ratio.toFixed(2),
    ],
    ...[ms(compared.calm.p99), ms(compared.disturbed.p99), compared.p99Ratio.toFixed(2)],
    ...[mb(compared.memory.calm), mb(compared.memory.disturbed), memoryRatioOf(compared).toFixed(2)],
  ];
  const lines = [head, head.map(() => "---"), ...Object.entries(rows).map(cells)];
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}
