import type { Compared, Crowded, KeyFlood } from "./flood.js";

/** What the disturbed one may be of the calm one. */
const P99_RATIO_MAX = 2;
const MEMORY_RATIO_MAX = 1.2;
/** What Node itself takes for an idle one is 11,000; slow ones take more. */
const CONNECTION_BYTES_MAX = 24_000;

/** What is not as promised. */
export function problemsOf({ calls, failed, p99Ratio }: Compared): string[] {
  return [
    ...(failed > 0 ? [`${failed} of ${calls} calls failed`] : []),
    ...(p99Ratio < P99_RATIO_MAX ? [] : [`p99 is ${p99Ratio.toFixed(2)} times what it is without`]),
  ];
}

/** The same, of memory. */
export function memoryProblemsOf({ memoryRatio }: KeyFlood): string[] {
  if (memoryRatio < MEMORY_RATIO_MAX) return [];
  return [`memory is ${memoryRatio.toFixed(2)} times what it is without`];
}

/** The same, of connections: memory is taken for each, whatever a server holds otherwise. */
export function connectionProblemsOf({ connectionBytes }: Crowded): string[] {
  if (connectionBytes < CONNECTION_BYTES_MAX) return [];
  return [`a connection takes ${Math.round(connectionBytes)} bytes; the limit is ${CONNECTION_BYTES_MAX}`];
}

/** The same, of the key that floods: it gets what it may, and pays for no more. */
export function keyProblemsOf({ sent, admitted, refused, admittedMax, charged }: KeyFlood): string[] {
  return [
    ...(admitted <= admittedMax ? [] : [`${admitted} were admitted, where ${admittedMax} may be`]),
    ...(admitted > admittedMax / 2 ? [] : [`only ${admitted} were admitted, where ${admittedMax} may be`]),
    ...(refused > sent / 2 ? [] : [`only ${refused} of ${sent} were refused`]),
    ...(charged >= admitted && charged <= admittedMax ? [] : [`${charged} were paid, ${admitted} answered`]),
  ];
}

/** A row for each disturbance, in Markdown. */
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
    "ratio",
  ];
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const cells = ([name, of]: [string, Compared]) => [
    ...[name, of.calls, of.failed, ms(of.calm.p50), ms(of.disturbed.p50), of.p50Ratio.toFixed(2)],
    ...[ms(of.calm.p99), ms(of.disturbed.p99), of.p99Ratio.toFixed(2)],
    ...[`${Math.round(of.memoryBytes / 1e6)} MB`, of.memoryRatio.toFixed(2)],
  ];
  const lines = [head, head.map(() => "---"), ...Object.entries(rows).map(cells)];
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}
