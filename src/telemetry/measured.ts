import { MemoryError } from "../errors.js";
import type { Meter } from "../memory/ports/quota.js";
import type { Steps } from "../memory/ports/steps.js";
import { isFault } from "./fault.js";
import type { ChargeOutcome, Metrics } from "./metrics.js";

const onBegin = () => {};

/** Times steps into the histogram. */
export function measuredSteps({ stepSeconds }: Metrics): Steps {
  return {
    time: async (step, work) => {
      const startMs = performance.now();
      const end = (outcome: string) =>
        stepSeconds.observe({ step, outcome }, (performance.now() - startMs) / 1000);
      try {
        const result = await work(onBegin);
        end("ok");
        return result;
      } catch (error) {
        end(isFault(error) ? "error" : "ok");
        throw error;
      }
    },
  };
}

/** Counts what is charged; of what is given back only the meter itself knows what came of it. */
export function measuredMeter(meter: Meter, { charges, tokens }: Metrics): Meter {
  return {
    charge: async (caller) => {
      try {
        await meter.charge(caller);
        charges.inc({ outcome: "charged" });
      } catch (error) {
        charges.inc({ outcome: refusalOf(error) });
        throw error;
      }
    },
    verify: (caller) => meter.verify(caller),
    refund: (caller) => meter.refund(caller),
    count: (caller, counted) => {
      tokens.inc({ call: counted.call }, counted.tokens);
      meter.count(caller, counted);
    },
  };
}

function refusalOf(error: unknown): ChargeOutcome {
  if (!(error instanceof MemoryError)) return "failed";
  if (error.code === "unauthenticated") return "unauthenticated";
  return error.reason === "QUOTA_EXHAUSTED" ? "quota_exhausted" : "failed";
}
