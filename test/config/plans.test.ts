import { describe, expect, it } from "vitest";
import { builtInPlans, UNLIMITED_CALLS } from "../../src/accounts/plan.js";
import { parsePlans } from "../../src/config/plans.js";

const parse = (value: unknown) => parsePlans(JSON.stringify(value), "plans.json");
const problemsOf = (value: unknown) => {
  try {
    parse(value);
    return undefined;
  } catch (error) {
    return (error as Error).message.split("\n");
  }
};

describe("a file of plans", () => {
  it("says the limits of each plan; what it leaves out is no limit", () => {
    const plans = parse({
      free: { calls: 1000, calls_per_second: 20, burst: 40, concurrent_calls: 8 },
      team: { calls: null, calls_per_second: 2.5 },
      own: { calls: 0 },
    });
    expect(plans.names).toEqual(["free", "team", "own"]);
    expect(plans.get("free")).toEqual({
      name: "free",
      calls: 1000,
      rate: { perSecond: 20, burst: 40 },
      concurrency: 8,
      accountTimes: 4,
    });
    expect(plans.get("team")).toEqual({
      name: "team",
      calls: UNLIMITED_CALLS,
      rate: { perSecond: 2.5, burst: 3 },
      concurrency: undefined,
      accountTimes: 4,
    });
    expect(plans.get("own")).toMatchObject({ calls: 0, rate: undefined });
  });

  it("has no field that an object merely inherits", () => {
    expect(problemsOf(JSON.parse('{"free":{"calls":1,"__proto__":2,"toString":3}}'))).toEqual([
      expect.stringContaining('plan "free": there is no field __proto__, toString; there are calls, '),
    ]);
  });

  it("that is wrong is refused with every problem: the file, the plan, the field and the limit", () => {
    expect(
      problemsOf({
        free: { calls: -1, burst: 2.5, tokens: 3 },
        Team: { calls: 1 },
        pro: [],
        max: { calls_per_second: 0 },
      }),
    ).toEqual([
      'PLANS_FILE plans.json plan "free": calls is -1; it must be a whole number from 0 to 2000000000, or null for no limit',
      'PLANS_FILE plans.json plan "free": burst is 2.5; it must be a whole number from 1 to 1000000',
      'PLANS_FILE plans.json plan "free": there is no field tokens; there are calls, calls_per_second, burst, concurrent_calls, account_times',
      'PLANS_FILE plans.json plan "free": burst needs calls_per_second',
      'PLANS_FILE plans.json plan "Team": a name is 1 to 32 small letters, digits and hyphens, a letter first',
      'PLANS_FILE plans.json plan "pro": must be an object',
      'PLANS_FILE plans.json plan "max": calls is missing; it must be a whole number from 0 to 2000000000, or null for no limit',
      'PLANS_FILE plans.json plan "max": calls_per_second is 0; it must be a number from 0.001 to 1000000',
    ]);
  });

  it.each([
    ["{", "PLANS_FILE plans.json is not JSON: Expected property name or '}' in JSON at line 1"],
    ['{\n  "free": { "calls": 1, }\n}', /^PLANS_FILE plans.json is not JSON: Expected .* at line 2$/],
    ['{\n  "free": ]\n}', /^PLANS_FILE plans.json is not JSON: Unexpected token ']', .*$/],
    ["[]", "PLANS_FILE plans.json must be an object of plans by name"],
    ["null", "PLANS_FILE plans.json must be an object of plans by name"],
    ["{}", "PLANS_FILE plans.json has no plan free, which is the plan of accounts that sign up"],
    ['{"free":null}', 'PLANS_FILE plans.json plan "free": must be an object'],
  ])("%s is refused", (text, message) => {
    expect(() => parsePlans(text, "plans.json")).toThrow(message);
  });

  it("may begin with a byte order mark, as some editors write it", () => {
    expect(parsePlans('\u{feff}{"free":{"calls":1}}', "plans.json").names).toEqual(["free"]);
  });

  it("is bounded", () => {
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`p${n}`, { calls: 1 }]));
    expect(problemsOf({ ...many, free: { calls: 1 } })).toEqual([
      "PLANS_FILE plans.json has 1002 plans; the limit is 1000",
    ]);
  });
});

describe("the built-in plans", () => {
  it("are the free one alone, with a rate and a concurrency that are ample for an agent", () => {
    const plans = builtInPlans(1000);
    expect(plans.get("free")).toEqual({
      name: "free",
      calls: 1000,
      rate: { perSecond: 50, burst: 100 },
      concurrency: 32,
      accountTimes: 4,
    });
    expect(() => plans.get("gone")).toThrow(
      /^there is no plan "gone" here; the operator must assign another$/,
    );
    expect(() => plans.get("constructor")).toThrow("there is no plan");
  });
});
