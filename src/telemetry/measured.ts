import { MemoryError } from "../errors.js";
import type { Quota } from "../memory/ports/quota.js";
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

/** Counts charges. Refunds are counted elsewhere: only the quota itself knows whether one succeeded. */
export function measuredQuota(quota: Quota, { charges, tokens }: Metrics): Quota {
  return {
    charge: async (caller, calls = 1) => {
      try {
        await quota.charge(caller, calls);
        charges.inc({ outcome: "charged" }, calls);
      } catch (error) {
        charges.inc({ outcome: refusalOf(error) }, calls);
        throw error;
      }
    },
    verify: (caller) => quota.verify(caller),
    refund: (caller, calls) => quota.refund(caller, calls),
    count: (caller, counted) => {
      tokens.inc({ call: counted.call }, counted.tokens);
      quota.count(caller, counted);
    },
  };
}

function refusalOf(error: unknown): ChargeOutcome {
  if (!(error instanceof MemoryError)) return "failed";
  if (error.code === "unauthenticated") return "unauthenticated";
  return error.reason === "QUOTA_EXHAUSTED" ? "quota_exhausted" : "failed";
}
