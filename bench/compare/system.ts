/** Outcome of a series of calls, by one caller or several at a time. */
export interface Load {
  /** Durations of the calls, in milliseconds. */
  readonly latenciesMs: readonly number[];
  /** Time from the first call's begin to the last one's end. */
  readonly seconds: number;
}

/** Range of calls, numbered from `from` without a gap, until `count` are made or the time is up. */
export interface LoadOptions {
  readonly from: number;
  readonly count: number;
  readonly callers: number;
  readonly secondsMax: number;
}

/** Memories whose vectors are known. Loading them is not measured. */
export interface Filling {
  /** First number, and the number after the last. */
  readonly from: number;
  readonly to: number;
}

/** Description of a system's setup, which the page shows next to the figures. */
export interface Description {
  readonly name: string;
  readonly version: string;
  /** Path of a call, and the process that embeds. */
  readonly called: string;
  readonly index: string;
  /** Failures that an answered store survives. */
  readonly durable: string;
}

/** Something that answers questions, which go by their numbers and are embedded on the way. */
export interface Recalling {
  recall(options: LoadOptions): Promise<Load>;
}

/** Something that takes texts, too. */
export interface Measured extends Recalling {
  store(options: LoadOptions): Promise<Load>;
}

/** A server that only embeds and searches: what recalld does above that is its own. */
export interface Floor extends Recalling {
  start(): Promise<void>;
  fill(filling: Filling): Promise<void>;
  stop(): Promise<void>;
}

/** One of the compared systems. */
export interface System extends Measured {
  readonly description: Description;
  start(): Promise<void>;
  fill(filling: Filling): Promise<void>;
  /** Returns the `topK` texts found for each question, best first. */
  found(questions: readonly number[], topK: number): Promise<string[][]>;
  /** Returns the seconds from the restart to the first answered recall. */
  restart(question: number): Promise<number>;
  /** Ids of the processes that serve, and of those that call and embed if the server does not. */
  pids(): { serving: number[]; calling: number[] };
  stop(): Promise<void>;
}
