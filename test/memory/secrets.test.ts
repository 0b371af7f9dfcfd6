import { describe, expect, it } from "vitest";
import { MemoryError } from "../../src/errors.js";
import { findSecrets, SECRET_RULES } from "../../src/memory/requests/find-secrets.js";
import { handleSecrets, REDACTED } from "../../src/memory/requests/handle-secrets.js";
import { METADATA_BYTES_MAX } from "../../src/memory/requests/metadata.js";
import { TEXT_BYTES_MAX } from "../../src/memory/requests/text.js";
import { CARD, JWT, SECRETS } from "../support/secrets.js";
import { shortestMs } from "../support/shortest-ms.js";

/** Time in which any text must be searched: some 15 ms here, and machines may be busy. */
const SEARCH_MS_MAX = 150;

describe("finding secrets", () => {
  it.each(SECRETS.map(([kind, secret, before = ""]) => [kind, secret, before] as const))(
    "finds a %s, and where it is",
    (kind, secret, before) => {
      const start = `Wichtig 🔑: ${before}`;
      const found = [{ kind, start: start.length, end: start.length + secret.length }];
      expect(findSecrets(`${start}${secret}, sagt Ana.`)).toEqual(found);
    },
  );

  it("has an example of each kind", () => {
    const kinds = new Set(SECRET_RULES.map(({ kind }) => kind));
    expect(new Set(SECRETS.map(([kind]) => kind))).toEqual(kinds);
  });

  it("finds a key that was cut off, that stands in JSON, and that has PEM's old header lines", () => {
    const body = `${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n".repeat(3)}ab==\n`;
    const [begin, end] = ["-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----"];
    const whole = begin + body + end;
    for (const text of [whole, JSON.stringify({ key: whole })]) {
      const [found, ...others] = findSecrets(text);
      expect(others).toEqual([]);
      expect(text.slice(found?.start, found?.end)).toMatch(/^-----BEGIN[\s\S]*END RSA PRIVATE KEY-----$/);
    }
    const encrypted = `${begin}Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,6C2D\n\n${body}${end}`;
    expect(findSecrets(encrypted)).toMatchObject([{ start: 0, end: encrypted.length }]);
    const cut = begin + body.slice(0, 140);
    expect(findSecrets(cut)).toMatchObject([{ start: 0, end: cut.length }]);
  });

  it.each([
    "The header is -----BEGIN PRIVATE KEY----- and its end -----END PRIVATE KEY-----.",
    "AWS's ids begin with AKIA, GitHub's tokens with ghp_, and Stripe's with sk_live_.",
    "task-list-of-a-very-long-and-boring-project-sk-learn, risk-averse-investors-and-others",
    "eyJ begins JSON in Base64; see /eyJ.eyJ.x",
    "Call +49 4111 2222 3333 or order 4111111111111112, ISBN 978-3-16-148410-0.",
    "mem_01m7y1xb5efk1rz15y41qfyaqb, 550e8400-e29b-41d4-a716-446655440000, 1764115200000",
    "pi is 3.14159265358979323846, and 0.4111111111111111 is no card",
  ])("leaves alone: %s", (text) => expect(findSecrets(text)).toEqual([]));

  it("takes time in proportion to the text, whatever the text is", () => {
    const seeds = SECRETS.flatMap(([, secret, before = ""]) =>
      [4, 12, before.length + secret.length - 1].map((n) => (before + secret).slice(0, n)),
    );
    const more = [
      "-----BEGIN PRIVATE KEY-----\\n",
      "-----BEGIN A A A ",
      "-a",
      "eyJaaaaaaaa.",
      "4111 ",
      "1.",
      " ",
      "\\n",
    ];
    for (const seed of new Set([...seeds, ...more])) {
      const text = seed.repeat(TEXT_BYTES_MAX / seed.length);
      expect(
        shortestMs(() => findSecrets(text), SEARCH_MS_MAX),
        seed,
      ).toBeLessThan(SEARCH_MS_MAX);
    }
  });
});

describe("handling secrets", () => {
  const metadata = { "a.b": [{ c: `x ${JWT}` }], n: 4111111111111111, deep: { card: CARD }, plain: "tea" };
  const text = `😀 ${CARD} und ${JWT}`;

  it("redacts them in the text and in every string of the metadata, and says kinds and places", () => {
    expect(handleSecrets({ text, metadata }, "redact")).toEqual({
      text: `😀 ${REDACTED} und ${REDACTED}`,
      metadata: { ...metadata, "a.b": [{ c: `x ${REDACTED}` }], deep: { card: REDACTED } },
      redacted: {
        count: 4,
        secrets: [
          { kind: "card_number", field: "text", start: 2, end: 21 },
          { kind: "jwt", field: "text", start: 26, end: 26 + JWT.length },
          { kind: "jwt", field: "metadata.a\\.b[0].c", start: 2, end: 2 + JWT.length },
          { kind: "card_number", field: "metadata.deep.card", start: 0, end: 19 },
        ],
      },
    });
    expect(handleSecrets({ text: "tea", metadata: { a: 1 } }, "redact")).toEqual({
      text: "tea",
      metadata: { a: 1 },
      redacted: undefined,
    });
  });

  it("never makes a text longer, however many there are, and names the first eight", () => {
    const many = "30569309025904\n".repeat(4_000);
    const { text: left = "", redacted } = handleSecrets({ text: many }, "redact");
    expect(left).toBe(`${REDACTED}\n`.repeat(4_000));
    expect(redacted).toMatchObject({ count: 4_000 });
    expect(redacted?.secrets).toHaveLength(8);
    for (const [, secret] of SECRETS) expect(secret.length).toBeGreaterThanOrEqual(14);
  });

  function refusal(work: () => unknown): MemoryError {
    try {
      work();
    } catch (error) {
      if (error instanceof MemoryError) return error;
    }
    throw new Error("it was not refused");
  }

  it("refuses them by kind and place, and repeats nothing of them", () => {
    const error = refusal(() => handleSecrets({ text: "tea", metadata }, "refuse"));
    expect(error).toMatchObject({ code: "invalid_argument", field: "metadata", reason: "SECRET_FOUND" });
    expect(error.message).toMatch(
      /^metadata has what looks like a secret: jwt in metadata\.a\\\.b\[0\]\.c at 2, and 1 more;/,
    );
    expect(error.recorded).not.toContain("a\\.b");
    expect(error.metadata.count).toBe("2");
    expect(JSON.parse(error.metadata.secrets ?? "")).toHaveLength(2);
    for (const [kind, secret, before = ""] of SECRETS) {
      const {
        message,
        recorded,
        metadata: details,
      } = refusal(() => handleSecrets({ text: before + secret }, "refuse"));
      const told = JSON.stringify([message, recorded, details]);
      expect(told).toContain(kind);
      for (let i = 0; i + 12 <= secret.length; i += 12) expect(told).not.toContain(secret.slice(i, i + 12));
    }
  });

  it("refuses one in a key of the metadata, which cannot be redacted, without its name", () => {
    for (const how of ["redact", "refuse"] as const) {
      const error = refusal(() => handleSecrets({ metadata: { [`card ${CARD}`]: { x: JWT } } }, how));
      expect(error).toMatchObject({ field: "metadata", reason: "SECRET_FOUND" });
      expect(JSON.stringify([error.message, error.metadata])).not.toContain(CARD);
      expect(error.metadata.secrets).toContain(`metadata.card ${REDACTED}`);
    }
  });

  it("keeps errors short enough for a header, and the largest metadata within its time", () => {
    const key = "ü.".repeat(500);
    const error = refusal(() => handleSecrets({ metadata: { [key]: Array(20).fill(CARD) } }, "refuse"));
    expect(Buffer.byteLength(JSON.stringify(error.metadata) + error.message)).toBeLessThan(4_096);
    const largest = Object.fromEntries(
      Array.from({ length: METADATA_BYTES_MAX / 32 }, (_, i) => [`4111 4111 ${i}`, "eyJ.4111-4111"]),
    );
    expect(shortestMs(() => handleSecrets({ metadata: largest }, "redact"), SEARCH_MS_MAX)).toBeLessThan(
      SEARCH_MS_MAX,
    );
  });
});
