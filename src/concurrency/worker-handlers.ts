import { parentPort, type Transferable } from "node:worker_threads";

/** Functions that a worker thread runs for its `WorkerClient`, by name. Each takes one message. */
export type Handlers = Readonly<Record<string, (message: never) => unknown>>;

export interface WorkerCall {
  readonly id: number;
  readonly name: string;
  readonly message: unknown;
}

export type WorkerReply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: WorkerFailure };

/** Parts of an error that reach the caller; copying an error to another thread would lose its code. */
export interface WorkerFailure {
  readonly message: string;
  readonly code?: string | undefined;
  readonly stack?: string | undefined;
}

/** Result of a handler whose memory is handed to the caller in place of being copied. */
export class Transferred<T> {
  constructor(
    readonly value: T,
    readonly buffers: readonly Transferable[],
  ) {}
}

/** Runs a handler for each call of this worker thread's client. They start in the order of the calls. */
export function handleCalls(handlers: Handlers): void {
  parentPort?.on("message", async ({ id, name, message }: WorkerCall) => {
    try {
      const value = await (handlers[name] as (message: unknown) => unknown)(message);
      if (value instanceof Transferred) reply({ id, value: value.value }, value.buffers);
      else reply({ id, value });
    } catch (error) {
      reply({ id, error: failureOf(error) });
    }
  });
}

function reply(message: WorkerReply, buffers: readonly Transferable[] = []): void {
  parentPort?.postMessage(message, buffers);
}

function failureOf(error: unknown): WorkerFailure {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, stack, code } = error as NodeJS.ErrnoException;
  return { message, stack, code };
}
