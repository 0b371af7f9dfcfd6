/** What a call waits for. */
export type CallStep = "charge" | "refund" | "embed" | "append" | "catch_up" | "search" | "fetch";
/** What is done for a namespace, on behalf of all that wait for it. */
export type SharedStep = "write" | "read" | "restore" | "snapshot" | "rebuild";
export type Step = CallStep | SharedStep;

/** The port to whoever wants to know how long things take. The work's outcome is passed on as it is. */
export interface Steps<S extends Step = Step> {
  /** @param work may say when it has waited and begins, by calling what it is given */
  time<T>(step: S, work: (onBegin: () => void) => Promise<T>): Promise<T>;
}

const nobody = () => {};
export const untimed: Steps = { time: (_step, work) => work(nobody) };
