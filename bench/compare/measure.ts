import { setTimeout as sleep } from "node:timers/promises";
import { machine } from "../machine.js";
import { type Busy, recallWhileStoring } from "./busy.js";
import { agreement, type BareEmbedder } from "./embedders.js";
import { type Figure, figure } from "./figures.js";
import { inTurns } from "./in-turns.js";
import { shareFound } from "./nearest.js";
import { CALLERS, type Options } from "./options.js";
import type { Recalld } from "./recalld.js";
import { resident } from "./resident.js";
import type { AtSize, Results, Targets } from "./results.js";
import type { Load, Measured, System } from "./system.js";
import { type Loads, summary, targetsOf } from "./targets.js";
import type { Corpus } from "./texts.js";

const FOUND_QUESTIONS = 200;
const AGREEMENT_TEXTS = 200;
const RESTARTS = 3;
/** Pause after many memories were added at once, for work that a system still does with them. */
const SETTLE_MS = 3000;

/** Subject of the measurements, and their tools. */
export interface Bench {
  readonly options: Options;
  readonly corpus: Corpus;
  readonly recalld: Recalld;
  /** All systems by their ids, recalld first. */
  readonly systems: Readonly<Record<string, System>>;
  /** The floor: `embedder`, and `embedder-python` for systems that are called from Python. */
  readonly embedders: Readonly<Record<string, BareEmbedder>>;
}

/** Measures every system at every size. */
export class Measuring {
  readonly #bench: Bench;
  /** Number of memories that each system holds. */
  readonly #held: Record<string, number> = {};
  #nextQuestion = 0;

  constructor(bench: Bench) {
    this.#bench = bench;
    for (const id of Object.keys(bench.systems)) this.#held[id] = 0;
  }

  async run(): Promise<Results> {
    const { options, systems } = this.#bench;
    const agreed = await this.#agreement();
    for (const system of Object.values(systems)) await system.start();
    const sizes: AtSize[] = [];
    let targets: Targets | undefined;
    for (const memories of options.sizes) {
      const at = await this.#measureAt(memories);
      sizes.push(at.figures);
      targets = at.targets ?? targets;
    }
    return {
      date: new Date().toISOString().slice(0, 10),
      machine: machine(),
      model: { id: options.model, workers: options.workers },
      rounds: options.rounds,
      agreement: agreed,
      systems: Object.fromEntries(Object.entries(systems).map(([id, { description }]) => [id, description])),
      sizes,
      targets: targets as Targets,
    };
  }

  async #agreement(): Promise<number | null> {
    const { embedders, corpus } = this.#bench;
    const [ours, theirs] = Object.values(embedders);
    if (ours === undefined || theirs === undefined) return null;
    return agreement(ours, theirs, corpus.texts.slice(0, AGREEMENT_TEXTS));
  }

  async #measureAt(memories: number): Promise<{ figures: AtSize; targets: Targets | undefined }> {
    const { options, systems } = this.#bench;
    say(`${memories.toLocaleString("en-US")} memories`);
    for (const id of Object.keys(systems)) await this.#fill(id, memories);
    await sleep(SETTLE_MS);
    const found = await this.#found(memories);
    const recalls = await this.#recalls();
    const stores = await this.#stores();
    const targets =
      memories === options.targetSize
        ? { memories, ...targetsOf({ recalls, stores, busy: await this.#busy() }) }
        : undefined;
    const figures = {
      memories,
      recall: summary(recalls),
      store: summary(stores),
      found,
      resident: this.#resident(),
      restartSeconds: await this.#restarts(),
    };
    return { figures, targets };
  }

  async #fill(id: string, memories: number): Promise<void> {
    const from = this.#held[id] as number;
    if (from > memories)
      throw new Error(`${id} holds ${from} memories already: fewer stores, or larger sizes`);
    const startMs = performance.now();
    await this.#bench.systems[id]?.fill({ from, to: memories });
    this.#held[id] = memories;
    say(`  ${id} filled in ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
  }

  /** Measures the share that each system finds. This also warms up: no later question is the first. */
  async #found(memories: number): Promise<Record<string, number>> {
    const { systems, embedders, corpus } = this.#bench;
    const questions = Array.from({ length: FOUND_QUESTIONS }, (_, i) => this.#nextQuestion + i);
    this.#nextQuestion += FOUND_QUESTIONS;
    const queries = await (embedders.embedder as BareEmbedder).vectors(
      questions.map((i) => corpus.questions[i] as string),
    );
    const shares: Record<string, number> = {};
    for (const [id, system] of Object.entries(systems)) {
      shares[id] = shareFound(await system.found(questions), { corpus, memories, queries });
    }
    return shares;
  }

  /** Asks all systems the same questions in the same round. */
  async #recalls(): Promise<Loads> {
    const { rounds, recalls: count, secondsMax } = this.#bench.options;
    const loads: Record<number, Record<string, Load[]>> = {};
    for (const callers of CALLERS) {
      const first = this.#nextQuestion;
      this.#nextQuestion += rounds * count;
      loads[callers] = await this.#inTurns((measured, round) =>
        measured.recall({ from: first + round * count, count, callers, secondsMax }),
      );
    }
    return loads;
  }

  async #stores(): Promise<Loads> {
    const { stores: count, secondsMax } = this.#bench.options;
    const loads: Record<number, Record<string, Load[]>> = {};
    for (const callers of CALLERS) {
      loads[callers] = await this.#inTurns(async (measured, _, name) => {
        const from = this.#held[name] ?? 0;
        const load = await measured.store({ from, count, callers, secondsMax });
        this.#held[name] = from + load.latenciesMs.length;
        return load;
      });
    }
    return loads;
  }

  #inTurns(load: (measured: Measured, round: number, name: string) => Promise<Load>) {
    const all: Readonly<Record<string, Measured>> = { ...this.#bench.systems, ...this.#bench.embedders };
    return inTurns(Object.keys(all), this.#bench.options.rounds, (name, round) =>
      load(all[name] as Measured, round, name),
    );
  }

  async #restarts(): Promise<Record<string, Figure>> {
    const { systems } = this.#bench;
    const question = this.#nextQuestion++;
    const seconds = await inTurns(Object.keys(systems), RESTARTS, (id) =>
      (systems[id] as System).restart(question),
    );
    return Object.fromEntries(Object.entries(seconds).map(([id, values]) => [id, figure(values)]));
  }

  async #busy(): Promise<Busy[]> {
    const { options, recalld } = this.#bench;
    const questions = 2 * options.recalls * options.secondsMax;
    const rounds: Busy[] = [];
    for (let round = 0; round < options.rounds; round++) {
      const { secondsMax } = options;
      const text = this.#held.recalld as number;
      const busy = await recallWhileStoring(recalld, {
        question: this.#nextQuestion,
        questions,
        text,
        secondsMax,
      });
      this.#nextQuestion += questions;
      this.#held.recalld = text + busy.stored;
      rounds.push(busy);
    }
    return rounds;
  }

  #resident(): AtSize["resident"] {
    const entries = Object.entries(this.#bench.systems).map(([id, system]) => {
      const { serving, calling } = system.pids();
      const [one, other] = [resident(serving), resident(calling)];
      return [id, one && other ? { serving: one, calling: other } : null] as const;
    });
    return Object.fromEntries(entries);
  }
}

function say(line: string): void {
  console.error(line);
}
