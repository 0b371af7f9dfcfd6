import { machine } from "../bench/machine.js";
import { VERSION } from "../dist/src/version.js";
import { Bm25Searcher } from "./bm25-searcher.js";
import { DataFolder, type Found } from "./data-folder.js";
import { BENCHMARKS } from "./known-sets.js";
import { measureLanguages } from "./languages.js";
import { measurePairs } from "./measure-pairs.js";
import { measureRetrieval } from "./measure-retrieval.js";
import { hybridOf, isHybrid, type Options } from "./options.js";
import { measurePitfalls } from "./pitfalls.js";
import type { Progress } from "./progress.js";
import { Recalld } from "./recalld.js";
import type { RetrievalSet } from "./retrieval-set.js";
import type { RetrievalRecord, RunRecord, SystemRecord } from "./run-record.js";
import { pooled, type Sample, sampleOf, shuffled } from "./sample.js";
import type { Searcher } from "./searcher.js";

/** A run in progress. Its record holds what was measured so far, set by set. */
export class Run {
  readonly #searchers = new Map<string, Searcher>();
  readonly #folder: DataFolder;

  constructor(
    private readonly options: Options,
    private readonly progress: Progress,
    readonly record: RunRecord = emptyRecord(options),
  ) {
    this.#folder = new DataFolder(options.data, options.side);
    const { side, queriesMax } = emptyRecord(options);
    if (record.side !== side || record.queriesMax !== queriesMax) {
      const most = record.queriesMax === null ? "all queries" : `at most ${record.queriesMax} queries`;
      throw new Error(`the earlier run is of the ${record.side} side and ${most} of a set; this one is not`);
    }
  }

  /**
   * Measures all sets.
   *
   * @param onMeasured called after each set
   */
  async run(onMeasured: () => void): Promise<void> {
    const found = this.#chosen();
    try {
      await this.#open();
      await this.#pitfalls();
      await this.#languages();
      for (const set of found) {
        if (set.kind === "retrieval") await this.#retrieval(set.name);
        else await this.#pairs(set.kind, set.name);
        onMeasured();
      }
    } finally {
      for (const searcher of this.#searchers.values()) await searcher.close();
    }
  }

  /** True if all sets were measured with all systems. */
  isWhole(systems: readonly string[]): boolean {
    const { retrieval, pairs } = this.record;
    return this.#folder.list().every(({ kind, name }) => {
      const record = kind === "retrieval" ? retrieval[name] : pairs[name];
      const needed = kind === "retrieval" ? systems : systems.filter((id) => !isHybrid(id));
      return needed.every((id) => record !== undefined && id in record.systems);
    });
  }

  #chosen(): Found[] {
    const found = this.#folder.list();
    const { sets } = this.options;
    const unknown = sets?.filter((name) => !found.some((each) => each.name === name)) ?? [];
    if (unknown.length > 0) {
      const names = found.map(({ name }) => name).join(", ");
      throw new Error(`--sets ${unknown.join(",")}: the data has ${names}`);
    }
    return found.filter(({ name }) => sets === undefined || sets.includes(name));
  }

  async #open(): Promise<void> {
    for (const model of this.options.models) {
      const recalld = await Recalld.open({ ...this.options, model });
      this.#searchers.set(model, recalld);
      this.#searchers.set(hybridOf(model), recalld.hybrid());
      const [name, { revision }] = [model.split("/").at(-1) as string, recalld];
      this.record.systems[hybridOf(model)] = { ...system(`${name}, HYBRID`), revision };
      this.record.systems[model] = { ...system(name), revision };
    }
    this.#searchers.set("bm25", new Bm25Searcher());
    // It also comes last in a record that this run continues.
    delete this.record.systems.bm25;
    this.record.systems.bm25 = system("BM25");
  }

  async #pitfalls(): Promise<void> {
    for (const model of this.options.models) {
      this.record.pitfalls[model] = await measurePitfalls(this.#searchers.get(model) as Required<Searcher>);
    }
  }

  async #languages(): Promise<void> {
    for (const [id, searcher] of this.#searchers)
      this.record.languages[id] = await measureLanguages(searcher);
  }

  async #retrieval(name: string): Promise<void> {
    const { extent } = this.options;
    const set = this.#folder.retrieval(name);
    const sample = sampleOf(set, extent);
    const characters = [...sample.rows.values()].flat().reduce((sum, { text }) => sum + text.length, 0);
    if (characters > extent.charactersMax) {
      this.progress.say(
        `${name} left out: ${characters} characters to store, more than ${extent.charactersMax}`,
      );
      return;
    }
    await this.#sample(this.record.retrieval, set, sample);
    if (name in BENCHMARKS) await this.#sample(this.record.pooled, set, pooled(sample));
  }

  async #sample(records: Record<string, RetrievalRecord>, set: RetrievalSet, sample: Sample): Promise<void> {
    const rows = [...sample.rows.values()].flat();
    const record = { rows: rows.length, rowsInAll: set.rows.length, queriesInAll: set.queries.length };
    const systems = records[set.name]?.systems ?? {};
    records[set.name] = { ...record, systems };
    const name = records === this.record.pooled ? `${set.name}, pooled` : set.name;
    await this.#each(name, async (id, searcher) => {
      const onStoring = this.#reporter(`${name}, ${id}, storing`, rows.length);
      const onAsking = this.#reporter(`${name}, ${id}, asking`, sample.queries.length);
      const measured = await measureRetrieval(searcher, sample, { name, onStoring, onAsking });
      systems[id] = measured;
      const refused = measured.refused > 0 ? `; ${measured.refused} WERE REFUSED` : "";
      return `${rows.length} stored, ${sample.queries.length} asked${refused}`;
    });
  }

  async #pairs(kind: "sts" | "pairs", name: string): Promise<void> {
    const set = this.#folder.pairs(kind, name);
    const pairs = shuffled(set.pairs).slice(0, this.options.extent.pairsMax);
    const systems = this.record.pairs[name]?.systems ?? {};
    this.record.pairs[name] = { kind, pairsInAll: set.pairs.length, systems };
    await this.#each(name, async (id, searcher) => {
      if (!canScore(searcher)) return undefined;
      const onProgress = this.#reporter(`${name}, ${id}`, pairs.length);
      systems[id] = await measurePairs(searcher, pairs, { name, onProgress });
      return `${pairs.length} pairs`;
    });
  }

  async #each(
    name: string,
    measure: (id: string, searcher: Searcher) => Promise<string | undefined>,
  ): Promise<void> {
    for (const [id, searcher] of this.#searchers) {
      const startMs = performance.now();
      const said = await measure(id, searcher);
      if (said === undefined) continue;
      this.progress.say(`${name}, ${id}: ${said}, ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
    }
  }

  #reporter(what: string, total: number) {
    return (done: number) => this.progress.report(what, done, total);
  }
}

function canScore(searcher: Searcher): searcher is Required<Searcher> {
  return searcher.similarities !== undefined;
}

function emptyRecord({ side, extent }: Options): RunRecord {
  const queriesMax = Number.isFinite(extent.queriesMax) ? extent.queriesMax : null;
  return {
    version: VERSION,
    side,
    queriesMax,
    systems: {},
    retrieval: {},
    pooled: {},
    pairs: {},
    pitfalls: {},
    languages: {},
  };
}

function system(name: string): SystemRecord {
  return { name, date: new Date().toISOString().slice(0, 10), machine: machine() };
}
