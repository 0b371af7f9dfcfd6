import { MemoryError } from "../errors.js";
import { FREE, type Plan, Plans, UNLIMITED_CALLS } from "./plan.js";

/** Maximum number of calls of a plan: the contract's fields hold no more. */
const PLAN_CALLS_MAX = 2_000_000_000;
/** Maximum of the other fields: as good as no limit. To set none, leave the field out. */
const PLAN_RATE_MAX = 1_000_000;
const PLANS_MAX = 1_000;
const PLAN_NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** The fields of a plan. Each function answers why a value is wrong, or undefined. */
const FIELDS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  calls: (value) =>
    value === null ? undefined : notWhole(value, { min: 0, max: PLAN_CALLS_MAX, or: "null" }),
  calls_per_second: (value) =>
    typeof value === "number" && value >= 0.001 && value <= PLAN_RATE_MAX
      ? undefined
      : `must be a number from 0.001 to ${PLAN_RATE_MAX}`,
  burst: (value) => notWhole(value, { min: 1, max: PLAN_RATE_MAX }),
  concurrent_calls: (value) => notWhole(value, { min: 1, max: PLAN_RATE_MAX }),
};

/**
 * Reads the plans out of the text of PLANS_FILE: JSON, an object of plans by name.
 *
 * @throws MemoryError `failed_precondition` with every problem, each naming the file, the plan, the field and
 * the limit.
 */
export function parsePlans(text: string, file: string): Plans {
  const problems: string[] = [];
  const entries = Object.entries(objectOf(text, file));
  if (entries.length > PLANS_MAX) problems.push(`has ${entries.length} plans; the limit is ${PLANS_MAX}`);
  if (!entries.some(([name]) => name === FREE)) {
    problems.push(`has no plan ${FREE}, which is the plan of accounts that sign up`);
  }
  const plans = entries.slice(0, PLANS_MAX).map(([name, value]) => {
    problems.push(...problemsOf(name, value));
    return toPlan(name, value as PlanFields);
  });
  if (problems.length > 0) throw unusable(file, problems);
  return new Plans(plans);
}

interface PlanFields {
  readonly calls: number | null;
  readonly calls_per_second?: number;
  readonly burst?: number;
  readonly concurrent_calls?: number;
}

/** Makes a plan of its fields. `burst` defaults to the calls of one second, and to 1 at least. */
function toPlan(name: string, fields: PlanFields | null): Plan {
  const { calls = null, calls_per_second: perSecond, burst, concurrent_calls: concurrency } = fields ?? {};
  return {
    name,
    calls: calls ?? UNLIMITED_CALLS,
    rate:
      perSecond === undefined ? undefined : { perSecond, burst: burst ?? Math.max(1, Math.ceil(perSecond)) },
    concurrency,
  };
}

function problemsOf(name: string, value: unknown): string[] {
  const plan = `plan ${JSON.stringify(name.slice(0, 64))}`;
  if (!PLAN_NAME.test(name)) {
    return [`${plan}: a name is 1 to 32 small letters, digits and hyphens, a letter first`];
  }
  if (!isObject(value)) return [`${plan}: must be an object`];
  const problems = Object.entries(value).flatMap(([field, given]) => {
    // A field may have the name of a property that every object inherits.
    const whyNot = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
    if (whyNot === undefined) {
      return [`${plan}: ${field.slice(0, 64)} is not a field; there are ${Object.keys(FIELDS).join(", ")}`];
    }
    const wrong = whyNot(given);
    return wrong === undefined ? [] : [`${plan}: ${field} is ${shortened(given)}; it ${wrong}`];
  });
  if (!("calls" in value)) problems.push(`${plan}: calls is missing; null is no limit`);
  if ("burst" in value && !("calls_per_second" in value)) {
    problems.push(`${plan}: burst needs calls_per_second`);
  }
  return problems;
}

function objectOf(text: string, file: string): Record<string, unknown> {
  // Some editors begin a file with a byte order mark.
  const json = text.replace(/^\u{feff}/u, "");
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw unusable(file, [`is not JSON: ${wordsOf(error as SyntaxError, json)}`]);
  }
  if (!isObject(value)) throw unusable(file, ["must be an object of plans by name"]);
  return value;
}

/** The parser's message on one line, with a line number in place of a position. */
function wordsOf({ message }: SyntaxError, text: string): string {
  const told = message.replace(/\s+/g, " ");
  const position = /(?<= at )position (\d+).*/.exec(told);
  if (position === null) return told;
  return told.replace(position[0], `line ${text.slice(0, Number(position[1])).split("\n").length}`);
}

function notWhole(
  value: unknown,
  { min, max, or }: { min: number; max: number; or?: string },
): string | undefined {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return undefined;
  return `must be a whole number from ${min} to ${max}${or === undefined ? "" : `, or ${or}`}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shortened(value: unknown): string {
  return JSON.stringify(value).slice(0, 64);
}

function unusable(file: string, problems: readonly string[]): MemoryError {
  const lines = problems.map((problem) => `PLANS_FILE ${file} ${problem}`);
  return new MemoryError("failed_precondition", lines.join("\n"));
}
