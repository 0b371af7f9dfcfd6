/** What takes time in a call, or in the upkeep of what is held open. */
export type Step =
  | "charge"
  | "refund"
  | "append"
  | "write"
  | "catch_up"
  | "restore"
  | "search"
  | "fetch"
  | "snapshot"
  | "rebuild";

/** The port to whoever wants to know how long things take. The work's outcome is passed on as it is. */
export interface Steps {
  time<T>(step: Step, work: () => Promise<T>): Promise<T>;
}

export const untimed: Steps = { time: (_step, work) => work() };
