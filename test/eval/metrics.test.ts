import { describe, expect, test } from "vitest";
import { metricsOf, ndcg } from "../../eval/metrics.js";
import type { Query, Row } from "../../eval/retrieval-set.js";

const rows = (...ids: string[]): Row[] => ids.map((id) => ({ id, text: id }));

function query(relevant: readonly string[], more: Partial<Query> = {}): Query {
  const gains = new Map(relevant.map((id) => [id, 1]));
  const answer = { relevant: new Set(relevant), gains, sessions: [], answerable: true };
  return { id: "q", text: "?", scopes: [], ...answer, ...more };
}

describe("nDCG", () => {
  test("of one right row is the discount of its rank", () => {
    const gains = new Map([["a", 1]]);
    expect(ndcg(["a", "b"], gains)).toBe(1);
    expect(ndcg(["b", "a"], gains)).toBeCloseTo(1 / Math.log2(3), 12);
    expect(ndcg(["b", "c", "a"], gains)).toBe(0.5);
    expect(ndcg(["b", "c"], gains)).toBe(0);
  });

  test("takes the grade itself as the gain, against the best order of all that is graded", () => {
    const gains = new Map([
      ["a", 3],
      ["b", 2],
      ["c", 1],
    ]);
    // Computed by hand: found 1/1 + 3/1.58496; the ideal 3/1 + 2/1.58496 + 1/2.
    expect(ndcg(["c", "a", "x"], gains)).toBeCloseTo((1 + 3 / 1.5849625) / (3 + 2 / 1.5849625 + 0.5), 6);
    expect(ndcg(["a", "b", "c"], gains)).toBe(1);
  });

  test("looks at ten, and asks for no more than ten", () => {
    const ids = Array.from({ length: 12 }, (_, i) => `r${i}`);
    const gains = new Map(ids.map((id) => [id, 1]));
    expect(ndcg(ids, gains)).toBe(1);
    expect(ndcg([...ids.slice(0, 10).map((id) => `not ${id}`), "r0"], gains)).toBe(0);
  });
});

describe("hits", () => {
  test("count within the first 1, 5 and 10", () => {
    const at = (rank: number) => {
      const ids = Array.from({ length: 12 }, (_, i) => (i === rank - 1 ? "right" : `r${i}`));
      const { hit1, hit5, hit10 } = metricsOf(query(["right", "another"]), rows(...ids));
      return [hit1, hit5, hit10];
    };
    expect(at(1)).toEqual([1, 1, 1]);
    expect(at(2)).toEqual([0, 1, 1]);
    expect(at(5)).toEqual([0, 1, 1]);
    expect(at(6)).toEqual([0, 0, 1]);
    expect(at(11)).toEqual([0, 0, 0]);
  });

  test("are none where nothing was found", () => {
    expect(metricsOf(query(["a"]), [])).toEqual({ hit1: 0, hit5: 0, hit10: 0, ndcg10: 0 });
  });
});

describe("sessions", () => {
  const found = (...sessions: string[]): Row[] =>
    sessions.map((session, i) => ({ id: `r${i}`, text: "", session }));
  const sessionsOf = (sessions: string[], rows: Row[]) => {
    const { sessionRecall, sessionAny, sessionAll } = metricsOf(query(["r0"], { sessions }), rows);
    return [sessionRecall, sessionAny, sessionAll];
  };

  test("are ranked by the first of their rows, and five are looked at", () => {
    const rows = found("a", "a", "b", "a", "c", "d", "e", "f");
    expect(sessionsOf(["e"], rows)).toEqual([1, 1, 1]);
    expect(sessionsOf(["f"], rows)).toEqual([0, 0, 0]);
  });

  test("count as a share, as any and as all of those that answer", () => {
    expect(sessionsOf(["a", "c", "x", "y"], found("a", "b", "c"))).toEqual([0.5, 1, 0]);
    expect(sessionsOf(["a", "c"], found("a", "b", "c"))).toEqual([1, 1, 1]);
  });

  test("are left out where a set has none", () => {
    expect(metricsOf(query(["r0"]), found("a"))).not.toHaveProperty("sessionRecall");
  });
});
