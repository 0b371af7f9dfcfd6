import { readFile } from "node:fs/promises";
import { z } from "zod";
import { ACCOUNT_TIMES, builtInPlans, FREE, Plans, UNLIMITED_CALLS } from "../accounts/plan.js";
import { type Config, ConfigError } from "./config.js";

/** Maximum number of calls of a plan: the contract's fields hold no more. */
const PLAN_CALLS_MAX = 2_000_000_000;
/** Maximum of the other fields: as good as no limit. To set none, leave the field out. */
const PLAN_RATE_MAX = 1_000_000;
const PLANS_MAX = 1_000;
/** Characters of a name or a wrong value that a message repeats. */
const QUOTED_CHARS_MAX = 64;

const FIELDS = {
  calls: whole(
    0,
    PLAN_CALLS_MAX,
    `must be a whole number from 0 to ${PLAN_CALLS_MAX}, or null for no limit`,
  ).nullable(),
  calls_per_second: number(
    (value) => value >= 0.001 && value <= PLAN_RATE_MAX,
    `must be a number from 0.001 to ${PLAN_RATE_MAX}`,
  ).optional(),
  burst: whole(1, PLAN_RATE_MAX).optional(),
  concurrent_calls: whole(1, PLAN_RATE_MAX).optional(),
  account_times: number(
    (value) => value >= 1 && value <= PLAN_RATE_MAX,
    `must be a number from 1 to ${PLAN_RATE_MAX}`,
  ).optional(),
};

const PLAN = z
  .strictObject(FIELDS, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `there is no field ${issue.keys.join(", ").slice(0, QUOTED_CHARS_MAX)}; there are ${Object.keys(FIELDS).join(", ")}`
        : "must be an object",
  })
  .refine((plan) => plan?.burst === undefined || plan.calls_per_second !== undefined, {
    error: "burst needs calls_per_second",
    // Said beside what is wrong with the fields themselves.
    when: () => true,
  });

const PLANS = z.record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/), PLAN, {
  error: ({ code }) =>
    code === "invalid_key"
      ? "a name is 1 to 32 small letters, digits and hyphens, a letter first"
      : "must be an object of plans by name",
});

/** Reads the plans that the settings name. @throws ConfigError with every problem. */
export async function readPlans({ plansFile, freeCalls }: Config): Promise<Plans> {
  if (plansFile === undefined) return builtInPlans(freeCalls);
  const text = await readFile(plansFile, "utf8").catch((error) => {
    throw new ConfigError([`PLANS_FILE ${plansFile} cannot be read: ${error.message}`]);
  });
  return parsePlans(text, plansFile);
}

/**
 * Reads the plans out of the text of PLANS_FILE: JSON, an object of plans by name. `burst` defaults to the calls of
 * one second, and to 1 at least.
 *
 * @throws ConfigError with every problem, each naming the file, the plan, the field and the limit.
 */
export function parsePlans(text: string, file: string): Plans {
  const given = parseJson(text, file);
  const read = PLANS.safeParse(given, { reportInput: true });
  const names = Object.keys(given ?? {});
  const problems = (read.error?.issues ?? []).map(problemOf);
  if (names.length > PLANS_MAX) problems.unshift(`has ${names.length} plans; the limit is ${PLANS_MAX}`);
  if (!Array.isArray(given) && given !== null && !names.includes(FREE)) {
    problems.unshift(`has no plan ${FREE}, which is the plan of accounts that sign up`);
  }
  if (!read.success || problems.length > 0) {
    throw new ConfigError(problems.map((problem) => `PLANS_FILE ${file} ${problem}`));
  }
  const plans = Object.entries(read.data).map(([name, plan]) => {
    const { calls, calls_per_second: perSecond, burst = Math.max(1, Math.ceil(perSecond ?? 0)) } = plan;
    return {
      name,
      calls: calls ?? UNLIMITED_CALLS,
      rate: perSecond === undefined ? undefined : { perSecond, burst },
      concurrency: plan.concurrent_calls,
      accountTimes: plan.account_times ?? ACCOUNT_TIMES,
    };
  });
  return new Plans(plans);
}

function parseJson(text: string, file: string): unknown {
  // Some editors begin a file with a byte order mark.
  const json = text.replace(/^\u{feff}/u, "");
  try {
    return JSON.parse(json);
  } catch (error) {
    const message = (error as SyntaxError).message.replace(/\s+/g, " ");
    const byLine = message.replace(
      /(?<= at )position (\d+).*/,
      (_, position) => `line ${json.slice(0, Number(position)).split("\n").length}`,
    );
    throw new ConfigError([`PLANS_FILE ${file} is not JSON: ${byLine}`]);
  }
}

function problemOf({ path: [name, field], input, message }: z.core.$ZodIssue): string {
  if (name === undefined) return message;
  const plan = `plan ${JSON.stringify(String(name).slice(0, QUOTED_CHARS_MAX))}`;
  if (field === undefined) return `${plan}: ${message}`;
  const given = input === undefined ? "missing" : JSON.stringify(input).slice(0, QUOTED_CHARS_MAX);
  return `${plan}: ${String(field)} is ${given}; it ${message}`;
}

function whole(min: number, max: number, message = `must be a whole number from ${min} to ${max}`) {
  return number((value) => Number.isInteger(value) && value >= min && value <= max, message);
}

function number(isRight: (value: number) => boolean, message: string) {
  return z.number(message).refine(isRight, message);
}
