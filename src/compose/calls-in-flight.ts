import type { AppOptions } from "../server/app.js";

type OnCall = NonNullable<AppOptions["onCall"]>;

/** Counts the calls that have begun and are not answered yet. */
export class CallsInFlight {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  counting(onCall: OnCall): OnCall {
    return (call) => {
      // A stream may run for days, and mostly waits: a call beside it is alone.
      if (call.streams) return onCall(call);
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
