/** One line of Prometheus' text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scrape {
  readonly text: string;
  readonly samples: readonly Sample[];
  /** Types by metric: `counter`, `gauge`, `histogram`. */
  readonly types: ReadonlyMap<string, string>;
  /** Sums up the samples with this name and these labels. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const text = await response.text();
  const samples = text.split("\n").flatMap((line) => sampleOf(line) ?? []);
  const types = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name, type]) => [name, type] as const);
  return {
    text,
    samples,
    types: new Map(types as [string, string][]),
    sum: (name, labels = {}) =>
      samples
        .filter((sample) => sample.name === name)
        .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
        .reduce((sum, { value }) => sum + value, 0),
  };
}

/** Returns how much a sum grows while some work runs. */
export async function growthDuring(url: string, work: () => Promise<unknown>) {
  const before = await scrape(url);
  await work();
  const after = await scrape(url);
  return (...metric: Parameters<Scrape["sum"]>) => after.sum(...metric) - before.sum(...metric);
}

function sampleOf(line: string): Sample | undefined {
  const [, name, labels = "", value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined) return undefined;
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label, text]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}
