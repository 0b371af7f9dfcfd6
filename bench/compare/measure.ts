import { machine } from "../machine.js";
import { type Busy, recallWhileStoring } from "./busy.js";
import { agreement, type BareEmbedder } from "./embedders.js";
import { type Figure, figure } from "./figures.js";
import { idle } from "./idle.js";
import { interleaved } from "./interleaved.js";
import { shareFound, TOP_K } from "./nearest.js";
import { CALLERS, type Options } from "./options.js";
import { profile } from "./profiled.js";
import type { Recalld } from "./recalld.js";
import { resident } from "./resident.js";
import type { AtSize, Results } from "./results.js";
import type { Floor, Load, Measured, Recalling, System } from "./system.js";
import { type Loads, summary, targetsOf } from "./targets.js";
import type { Corpus } from "./texts.js";

const FOUND_QUESTIONS = 200;
const AGREEMENT_TEXTS = 200;
const RESTARTS = 3;

/** Subject of the measurements, and their tools. */
export interface Bench {
  readonly options: Options;
  readonly corpus: Corpus;
  readonly recalld: Recalld;
  /** All systems by their ids, recalld first. */
  readonly systems: Readonly<Record<string, System>>;
  /** Servers that only embed and search. */
  readonly floors: Readonly<Record<string, Floor>>;
  /** Pools that only embed: `embedder`, and `embedder-python` for systems that are called from Python. */
  readonly embedders: Readonly<Record<string, BareEmbedder>>;
}

/** Measures every system at every size. */
export class Measuring {
  readonly #bench: Bench;
  /** Number of memories that each system and each bare server holds. */
  readonly #held: Record<string, number> = {};
  #nextQuestion = 0;

  constructor(bench: Bench) {
    this.#bench = bench;
    for (const id of Object.keys({ ...bench.systems, ...bench.floors })) this.#held[id] = 0;
  }

  async run(): Promise<Omit<Results, "load">> {
    const { options, systems, floors } = this.#bench;
    const agreed = await this.#agreement();
    for (const one of Object.values({ ...systems, ...floors })) await one.start();
    const sizes: AtSize[] = [];
    for (const memories of options.sizes) sizes.push(await this.#measureAt(memories));
    return {
      date: new Date().toISOString().slice(0, 10),
      machine: machine(),
      model: { id: options.model, workers: options.workers },
      rounds: options.rounds,
      agreement: agreed,
      systems: Object.fromEntries(Object.entries(systems).map(([id, { description }]) => [id, description])),
      sizes,
    };
  }

  async #agreement(): Promise<number | null> {
    const { embedders, corpus } = this.#bench;
    const [ours, theirs] = Object.values(embedders);
    if (ours === undefined || theirs === undefined) return null;
    return agreement(ours, theirs, corpus.texts.slice(0, AGREEMENT_TEXTS));
  }

  async #measureAt(memories: number): Promise<AtSize> {
    const { systems, floors } = this.#bench;
    say(`${memories.toLocaleString("en-US")} memories`);
    for (const [id, one] of Object.entries({ ...systems, ...floors })) await this.#fill(id, one, memories);
    // recalld is idle by now; others have work left that no answer waits for.
    await idle(Object.values(systems).flatMap((system) => system.pids().serving));
    const found = await this.#found(memories);
    const recalls = await this.#recalls();
    const stores = await this.#stores();
    const processor = await this.#profile();
    const busy = await this.#busy(memories);
    return {
      memories,
      recall: summary(recalls),
      store: summary(stores),
      found,
      resident: this.#resident(),
      restartSeconds: await this.#restarts(),
      processor,
      targets: targetsOf({ recalls, stores, busy, found: found.recalld as number }),
    };
  }

  async #fill(id: string, one: System | Floor, memories: number): Promise<void> {
    const from = this.#held[id] as number;
    if (from > memories)
      throw new Error(`${id} holds ${from} memories already: fewer stores, or larger sizes`);
    const startMs = performance.now();
    await one.fill({ from, to: memories });
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
      shares[id] = shareFound(await system.found(questions, TOP_K), { corpus, memories, queries });
    }
    return shares;
  }

  /** Asks all systems the same questions in the same round. */
  async #recalls(): Promise<Loads> {
    const { options, systems, floors, embedders } = this.#bench;
    const { rounds, recalls: count, secondsMax } = options;
    const all: Readonly<Record<string, Recalling>> = { ...systems, ...floors, ...embedders };
    const loads: Record<number, Record<string, Load[]>> = {};
    for (const callers of CALLERS) {
      const first = this.#nextQuestion;
      this.#nextQuestion += rounds * count;
      loads[callers] = await this.#interleaved(all, (name, round) =>
        (all[name] as Recalling).recall({ from: first + round * count, count, callers, secondsMax }),
      );
    }
    return loads;
  }

  async #stores(): Promise<Loads> {
    const { options, systems, embedders } = this.#bench;
    const { stores: count, secondsMax } = options;
    const all: Readonly<Record<string, Measured>> = { ...systems, ...embedders };
    const loads: Record<number, Record<string, Load[]>> = {};
    for (const callers of CALLERS) {
      loads[callers] = await this.#interleaved(all, async (name) => {
        const from = this.#held[name] ?? 0;
        const load = await (all[name] as Measured).store({ from, count, callers, secondsMax });
        this.#held[name] = from + load.latenciesMs.length;
        return load;
      });
    }
    return loads;
  }

  #interleaved(all: object, load: (name: string, round: number) => Promise<Load>) {
    return interleaved(Object.keys(all), this.#bench.options.rounds, load);
  }

  async #restarts(): Promise<Record<string, Figure>> {
    const { systems } = this.#bench;
    const question = this.#nextQuestion++;
    const seconds = await interleaved(Object.keys(systems), RESTARTS, (id) =>
      (systems[id] as System).restart(question),
    );
    return Object.fromEntries(Object.entries(seconds).map(([id, values]) => [id, figure(values)]));
  }

  async #profile(): Promise<AtSize["processor"]> {
    const { options, recalld } = this.#bench;
    const text = this.#held.recalld as number;
    const done = await profile(recalld, { ...options, question: this.#nextQuestion, text });
    this.#nextQuestion += done.questions;
    this.#held.recalld = text + done.stored;
    return done.times;
  }

  async #busy(memories: number): Promise<Busy[]> {
    const { options, recalld, corpus } = this.#bench;
    const { rounds, recalls, secondsMax } = options;
    const questions = Math.ceil(2 * recalls * secondsMax);
    // All rounds together stay below the next size.
    const end = options.sizes.find((size) => size > memories) ?? corpus.texts.length;
    const done: Busy[] = [];
    for (let round = 0; round < rounds; round++) {
      const text = this.#held.recalld as number;
      const busy = await recallWhileStoring(recalld, {
        question: this.#nextQuestion,
        questions,
        text,
        storesMax: Math.floor((end - text) / (rounds - round)),
        secondsMax,
      });
      this.#nextQuestion += questions;
      this.#held.recalld = text + busy.stored;
      done.push(busy);
    }
    return done;
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
