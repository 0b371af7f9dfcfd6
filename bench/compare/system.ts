/** What one caller after the other, or several at a time, came to. */
export interface Load {
  /** Of each call, in milliseconds. */
  readonly latenciesMs: readonly number[];
  /** From the first call's begin to the last one's end. */
  readonly seconds: number;
}

/** Calls numbered from `from` on, without a gap, until `count` are made or the time is up. */
export interface LoadOptions {
  readonly from: number;
  readonly count: number;
  readonly callers: number;
  readonly secondsMax: number;
}

/** Memories whose vectors are known: not what is measured. */
export interface Filling {
  /** The first number, and the one after the last. */
  readonly from: number;
  readonly to: number;
}

/** How a system is run here; the page tells it beside the figures. */
export interface Description {
  readonly name: string;
  readonly version: string;
  /** From where to where a call goes, and who embeds. */
  readonly called: string;
  readonly index: string;
  /** What an answered store has survived. */
  readonly durable: string;
}

/** What can be loaded. Texts and questions go by their numbers, and are embedded on the way. */
export interface Measured {
  store(options: LoadOptions): Promise<Load>;
  recall(options: LoadOptions): Promise<Load>;
}

/** One of those compared. */
export interface System extends Measured {
  readonly description: Description;
  start(): Promise<void>;
  fill(filling: Filling): Promise<void>;
  /** The texts found for each question, best first. */
  found(questions: readonly number[]): Promise<string[][]>;
  /** From the start of what was stopped to the first answered recall, in seconds. */
  restart(question: number): Promise<number>;
  /** Processes that serve, and those that call and embed where that is not the server's work. */
  pids(): { serving: number[]; calling: number[] };
  stop(): Promise<void>;
}
