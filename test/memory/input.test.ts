import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryError } from "../../src/errors.js";
import { IDEMPOTENCY_KEY_CHARS_MAX, parseIdempotencyKey } from "../../src/memory/idempotency/idempotency.js";
import { parseFilter } from "../../src/memory/requests/filter.js";
import { newMemoryId, parseMemoryId } from "../../src/memory/requests/id.js";
import {
  type Json,
  type JsonObject,
  METADATA_BYTES_MAX,
  METADATA_DEPTH_MAX,
  parseMetadata,
} from "../../src/memory/requests/metadata.js";
import { NAMESPACE_BYTES_MAX, parseNamespace } from "../../src/memory/requests/namespace.js";
import {
  parseLowestScore,
  parseTopK,
  TOP_K_DEFAULT,
  TOP_K_MAX,
} from "../../src/memory/requests/recall-options.js";
import { parseText, TEXT_BYTES_MAX } from "../../src/memory/requests/text.js";
import { scoreOf } from "../../src/memory/search/score.js";

/** Any string, lone surrogates included. */
const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((c) => String.fromCharCode(c)) });
const LONE = ["\ud83d", "\ude00", "a\ud83db", "\ude00\ud83d"];
/** Characters that `trim` takes for spaces, though no keyboard has them. */
const ODD_SPACES = ["\u00a0", "\u2003", "\u3000", "\ufeff"];

/** Returns the refusal; fails if there is none. */
function refusal(parse: () => unknown): MemoryError {
  try {
    parse();
  } catch (error) {
    expect(error).toBeInstanceOf(MemoryError);
    expect((error as MemoryError).code).toBe("invalid_argument");
    return error as MemoryError;
  }
  throw new Error("it was taken in");
}

/** Checks that a value is either returned unchanged or refused with the name of the field. */
function keepsOrRefuses<T>(values: fc.Arbitrary<T>, field: string, parse: (value: T) => unknown): void {
  fc.assert(
    fc.property(values, (value) => {
      try {
        expect(parse(value)).toBe(value);
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error;
        expect(error).toMatchObject({ code: "invalid_argument", field });
      }
    }),
    { numRuns: 1000 },
  );
}

describe("a floor of scores", () => {
  it("of 1 leaves the same text, whose vector is rounded to float32", () => {
    const number = fc.float({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(number, { minLength: 8, maxLength: 400 }), (numbers) => {
        const length = Math.hypot(...numbers);
        fc.pre(length > 1e-3);
        const vector = Float32Array.from(numbers, (each) => each / length);
        const score = scoreOf([vector], [vector]);
        expect(score).toBeGreaterThanOrEqual(parseLowestScore("min_score", 1) as number);
      }),
    );
    expect(parseLowestScore("min_score", 0.999)).toBe(0.999);
  });
});

describe("a namespace's name", () => {
  it("comes back as it was, or is refused by its field", () => {
    keepsOrRefuses(anyText, "namespace", parseNamespace);
  });

  it("is taken exactly when it is well-formed, of 1 to 256 bytes, trimmed and without control characters", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: "binary", maxLength: 300 })), (name) => {
        const bytes = Buffer.byteLength(name);
        const good =
          bytes >= 1 &&
          bytes <= 256 &&
          name.isWellFormed() &&
          name === name.trim() &&
          ![...name].some((c) => c < " " || (c >= "\u007f" && c <= "\u009f"));
        if (good) expect(parseNamespace(name)).toBe(name);
        else refusal(() => parseNamespace(name));
      }),
      { numRuns: 1000 },
    );
  });

  it.each(["a", "é", "日", "😀"])("may have 256 bytes and not one more: %s", (letter) => {
    const full = letter.repeat(NAMESPACE_BYTES_MAX / Buffer.byteLength(letter));
    // 256 is no multiple of three, so a character of one byte fills it up.
    const exact = full + "a".repeat(NAMESPACE_BYTES_MAX - Buffer.byteLength(full));
    expect(parseNamespace(exact)).toBe(exact);
    expect(refusal(() => parseNamespace(`${exact}a`)).message).toBe(
      "namespace is 257 bytes; the limit is 256",
    );
  });

  it("is missing when it is empty", () => {
    expect(refusal(() => parseNamespace("")).message).toBe("namespace is missing");
  });

  it.each(["\u0000", "\t", "\n", "\u001f", "\u007f", "\u0085", "\u009f"])(
    "has no control character: %j",
    (control) => {
      expect(refusal(() => parseNamespace(`a${control}b`)).message).toContain("control character");
    },
  );

  it.each([" ", ...ODD_SPACES])("has no space at either end, but may inside: %j", (space) => {
    expect(parseNamespace(`a${space}b`)).toBe(`a${space}b`);
    for (const name of [`${space}a`, `a${space}`, space]) {
      expect(refusal(() => parseNamespace(name)).message).toContain("space");
    }
  });

  it.each(LONE)("is well-formed: %j", (name) => {
    expect(refusal(() => parseNamespace(name)).message).toContain("lone surrogate");
  });
});

describe("a text", () => {
  it("comes back as it was, or is refused by its field", () => {
    keepsOrRefuses(anyText, "text", (value) => parseText("text", value));
    keepsOrRefuses(anyText, "query", (value) => parseText("query", value));
  });

  it.each(["a", "é", "😀", "\u0000"])("may have 65,536 bytes and not one more: %j", (letter) => {
    const many = letter.repeat((TEXT_BYTES_MAX - 4) / Buffer.byteLength(letter));
    // It must not be blank either.
    const filled = many + "a".repeat(TEXT_BYTES_MAX - Buffer.byteLength(many));
    expect(Buffer.byteLength(filled)).toBe(65_536);
    expect(parseText("text", filled)).toBe(filled);
    expect(refusal(() => parseText("text", `${filled}a`)).message).toBe(
      "text is 65,537 bytes; the limit is 65,536",
    );
  });

  it.each([" ", "\n\t ", ...ODD_SPACES])("is not blank: %j", (blank) => {
    expect(refusal(() => parseText("query", blank)).message).toBe("query is blank");
    expect(parseText("query", `${blank}a${blank}`)).toBe(`${blank}a${blank}`);
  });

  it("is missing when it is empty", () => {
    expect(refusal(() => parseText("text", "")).message).toBe("text is missing");
  });

  it.each(LONE)("is well-formed: %j", (text) => {
    expect(refusal(() => parseText("text", text)).message).toContain("lone surrogate");
  });
});

describe("top_k", () => {
  it("is 5 when it is left out", () => {
    expect(parseTopK(undefined)).toBe(TOP_K_DEFAULT);
    expect(TOP_K_DEFAULT).toBe(5);
  });

  it("is taken exactly when it is a whole number from 1 to 20", () => {
    const numbers = fc.oneof(fc.double(), fc.integer(), fc.integer({ min: -2, max: 25 }));
    fc.assert(
      fc.property(numbers, (n) => {
        if (n >= 1 && n <= TOP_K_MAX && n % 1 === 0) expect(parseTopK(n)).toBe(n);
        else expect(refusal(() => parseTopK(n)).field).toBe("top_k");
      }),
      { numRuns: 1000 },
    );
  });

  it.each([0, -0, -1, 21, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 32 + 1])("is not %d", (n) => {
    refusal(() => parseTopK(n));
  });
});

describe("metadata", () => {
  /** Makes an object that is `depth` levels deep, of objects and lists in turn. */
  const nested = (depth: number): JsonObject => {
    let inner: Json = "x";
    for (let level = depth; level > 1; level--) inner = level % 2 === 0 ? { inner } : [inner];
    return { inner };
  };
  const sized = (bytes: number) => ({ k: "x".repeat(bytes - Buffer.byteLength('{"k":""}')) });

  it("is an empty object when it is left out", () => {
    expect(parseMetadata(undefined)).toBe("{}");
  });

  it("comes back as it was, or is refused by its field", () => {
    const objects = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 18 }));
    fc.assert(
      fc.property(objects, (value) => {
        // JSON has no -0.
        const json = JSON.stringify(value);
        try {
          expect(parseMetadata(JSON.parse(json))).toBe(json);
        } catch (error) {
          if (!(error instanceof MemoryError)) throw error;
          expect(error).toMatchObject({ code: "invalid_argument", field: "metadata" });
        }
      }),
    );
  });

  it("may be 16 levels deep and not one more", () => {
    expect(JSON.parse(parseMetadata(nested(METADATA_DEPTH_MAX)))).toEqual(nested(16));
    expect(refusal(() => parseMetadata(nested(17))).message).toBe("metadata is more than 16 levels deep");
  });

  it("is refused, not followed, when it is very deep", () => {
    refusal(() => parseMetadata(nested(100_000)));
  });

  it("may have 16,384 bytes as JSON and not one more", () => {
    expect(Buffer.byteLength(parseMetadata(sized(METADATA_BYTES_MAX)))).toBe(16_384);
    expect(refusal(() => parseMetadata(sized(16_385))).message).toBe(
      "metadata is 16,385 bytes as JSON; the limit is 16,384",
    );
  });

  it("is measured in bytes, not in characters", () => {
    const wide = { k: "日".repeat(6000) };
    expect(JSON.stringify(wide).length).toBeLessThan(16_384);
    refusal(() => parseMetadata(wide));
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "has no number that is not finite: %d",
    (n) => {
      const paths = {
        "metadata.n": { n },
        "metadata.list[1][0]": { list: [1, [n]] },
        "metadata.a.b": { a: { b: n } },
      };
      for (const [field, value] of Object.entries(paths)) {
        const { message } = refusal(() => parseMetadata(value));
        expect(message).toBe(`${field} is a number that is not finite`);
      }
    },
  );

  it.each(LONE)("is well-formed, keys too: %j", (text) => {
    for (const value of [{ [text]: 1 }, { a: text }, { a: [{ [text]: null }] }]) {
      expect(refusal(() => parseMetadata(value)).message).toContain("lone surrogate");
    }
    for (const filter of [{ [text]: 1 }, { a: text }, { $not: { a: { $in: [text] } } }]) {
      expect(refusal(() => parseFilter(filter)).message).toContain("lone surrogate");
    }
  });

  it.each([
    '{"__proto__":{"polluted":true}}',
    '{"a":{"__proto__":1,"constructor":{"prototype":[]}}}',
    '{"toString":"x","$set":1,"a.b":null,"":0}',
    '{"n":1e-7,"big":12345678901234567000,"t":true,"e":[],"o":{}}',
  ])("comes back with every key it came with: %s", (json) => {
    const text = parseMetadata(JSON.parse(json));
    expect(text).toBe(json);
    expect(Object.keys(JSON.parse(text))).toEqual(Object.keys(JSON.parse(json)));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("a memory's id", () => {
  it("is taken as it was made", () => {
    for (let i = 0; i < 1000; i++) {
      const id = newMemoryId();
      expect(parseMemoryId(id)).toBe(id);
    }
  });

  it("comes back as it was, or is refused by its field", () => {
    keepsOrRefuses(anyText, "id", parseMemoryId);
  });

  it("is refused when one character is another that no id has there", () => {
    const bad = "ilouILOU ABZ-_=/%\n\u0000é";
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 29 }), fc.constantFrom(...bad), (at, letter) => {
        const id = newMemoryId();
        expect(refusal(() => parseMemoryId(id.slice(0, at) + letter + id.slice(at + 1))).field).toBe("id");
      }),
    );
  });

  it("is refused when it is too long, too short, of another kind, or above 128 bits", () => {
    const id = newMemoryId();
    const highest = `mem_7${"z".repeat(25)}`;
    expect(parseMemoryId(highest)).toBe(highest);
    for (const other of [
      "",
      id.slice(0, -1),
      `${id}0`,
      `${id}\n`,
      ` ${id}`,
      id.replace("mem_", "op_"),
      id.replace("mem_", ""),
      `mem_8${"0".repeat(25)}`,
    ]) {
      refusal(() => parseMemoryId(other));
    }
  });
});

describe("an idempotency key", () => {
  it("comes back as it was, or is refused by its field", () => {
    const long = fc.string({ unit: "binary", maxLength: 300, size: "max" });
    keepsOrRefuses(long, "Idempotency-Key", parseIdempotencyKey);
  });

  it("may have 255 characters and not one more, and is not empty", () => {
    const exact = "k".repeat(IDEMPOTENCY_KEY_CHARS_MAX);
    expect(exact).toHaveLength(255);
    expect(parseIdempotencyKey(exact)).toBe(exact);
    expect(refusal(() => parseIdempotencyKey(`${exact}k`)).message).toContain("256 characters");
    expect(refusal(() => parseIdempotencyKey("")).message).toContain("empty");
  });
});
