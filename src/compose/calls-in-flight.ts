import type { AppOptions } from "../server/app.js";

type OnCall = NonNullable<AppOptions["onCall"]>;

/** Counts the calls that have begun and are not answered yet. */
export class CallsInFlight {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Decorates the watcher of calls. */
  counting(onCall: OnCall): OnCall {
    return (call) => {
      const { end, ...watcher } = onCall(call);
      this.#count++;
      return {
        ...watcher,
        end: (ended) => {
          this.#count--;
          end(ended);
        },
      };
    };
  }
}
