import type { Clock, Fetch } from "../../clients/typescript/src/index.js";

/** A scripted answer, or an error to throw. */
export type Scripted = { status: number; body: unknown; headers?: Record<string, string> } | Error;

export interface Script {
  readonly fetch: Fetch;
  /** Requests so far, with their headers in lower case. */
  readonly requests: { url: string; headers: Record<string, string>; body: string }[];
}

/** Answers calls from a list, and remembers what was asked. The last answer repeats. */
export function scriptedFetch(...answers: readonly Scripted[]): Script {
  const requests: Script["requests"] = [];
  return {
    requests,
    fetch: async (url, { headers, body }) => {
      const answer = answers[Math.min(requests.length, answers.length - 1)];
      requests.push({ url, headers: headers as Record<string, string>, body: String(body) });
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error("no answer is left");
      const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
      return new Response(text, { status: answer.status, headers: answer.headers ?? {} });
    },
  };
}

/** A clock on which pauses take no time; timeouts of attempts never come. */
export class QuickClock implements Clock {
  /** Pauses that were begun, in milliseconds. */
  readonly pauses: number[] = [];
  #nowMs = 0;

  constructor(readonly timeoutMs = 35_000) {}

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, run: () => void): () => void {
    if (ms === this.timeoutMs) return () => {};
    let canceled = false;
    this.pauses.push(ms);
    queueMicrotask(() => {
      this.#nowMs += ms;
      if (!canceled) run();
    });
    return () => {
      canceled = true;
    };
  }
}
