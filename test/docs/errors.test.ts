import type { Code } from "@connectrpc/connect";
import { codeFromString, codeToHttpStatus, codeToString } from "@connectrpc/connect/protocol-connect";
import { describe, expect, test } from "vitest";
import { renderMarkdown } from "../../scripts/docs/markdown.js";
import { FAILURES } from "../../scripts/openapi/errors.js";
import { type ErrorCode, MemoryError, REASONS } from "../../src/errors.js";
import { toConnectError } from "../../src/server/errors.js";

import { items, read, section, sources } from "../support/documents.js";

describe("docs/errors.md", () => {
  const [, union = ""] = /export type ErrorCode =([^;]+);/.exec(read("src/errors.ts")) ?? [];
  const codes = [...union.matchAll(/"(\w+)"/g)].map(([, code]) => code as ErrorCode);
  const listed = new Map(
    section("docs/errors.md", "## Codes")
      .split(/^(?=### )/m)
      .slice(1)
      .map((text) => [/^`(\w+)`, HTTP /m.exec(text)?.[1] as string, text]),
  );

  test.each(codes)("has a section about %s with the status it has on the wire", (code) => {
    const { code: onWire } = toConnectError(new MemoryError(code, ""));
    expect(codeToString(onWire)).toBe(code);
    expect(listed.get(code)).toContain(String(codeToHttpStatus(onWire)));
  });

  test.each([...listed])(
    "has sections only about codes that there are, each where errors lead: %s",
    (code, text) => {
      const onWire = codeFromString(code) as Code | undefined;
      expect(onWire).toBeDefined();
      expect(text).toContain(String(codeToHttpStatus(onWire as Code)));
      const { headings } = renderMarkdown(text, (href) => href);
      expect(headings.map(({ anchor }) => anchor)).toEqual([code.replaceAll("_", "-")]);
    },
  );

  const reasons = items(section("docs/errors.md", "## Reasons"));

  test("lists every reason of the catalogue, and no other", () => {
    expect(reasons.map(([reason]) => reason).sort()).toEqual(Object.keys(REASONS).sort());
  });

  test.each(Object.entries(REASONS))("says of %s when it is given", (reason, when) => {
    const [, , meaning] = reasons.find(([name]) => name === reason) ?? [];
    expect(meaning).toContain(when);
  });

  test("the OpenAPI document knows every reason of the catalogue", () => {
    const named = FAILURES.flatMap(({ reason }) => reason ?? []);
    expect([...new Set(named)].sort()).toEqual(Object.keys(REASONS).sort());
  });

  test.each(Object.keys(REASONS))("lists no reason that nothing gives: %s", (reason) => {
    const given = new RegExp(`(?:\\breason: |(?:denied|limited)\\(\\s*)"${reason}"`);
    expect([...sources.values()].some((source) => given.test(source))).toBe(true);
  });
});
