export const CALL_STEPS = [
  "charge",
  "refund",
  "embed",
  "append",
  "catch_up",
  "words",
  "filter",
  "search",
  "fetch",
] as const;
export type CallStep = (typeof CALL_STEPS)[number];
/** Steps of work that all calls on a namespace share. */
export const SHARED_STEPS = ["write", "read", "restore", "seal"] as const;
export type SharedStep = (typeof SHARED_STEPS)[number];
export type Step = CallStep | SharedStep;

/** The port to the timing of steps. It passes the work's outcome on unchanged. */
export interface StepTimer<S extends Step = Step> {
  time<T>(step: S, work: () => Promise<T>): Promise<T>;
}

/** RPC that has begun, as metrics and traces see it. */
export interface BegunCall {
  /** `service/method` of the contract. */
  readonly method: string;
  readonly protocol: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Outcome of an RPC. */
export interface EndedCall {
  /** `ok`, or Connect's name of the error. */
  readonly code: string;
  readonly ms: number;
}

/** Receiver of what happens to one RPC while it runs. */
export interface CallWatcher {
  readonly traceId?: string | undefined;
  readonly timer: StepTimer<CallStep>;
  end(ended: EndedCall): void;
}

export const NO_TIMINGS: StepTimer = { time: (_step, work) => work() };
