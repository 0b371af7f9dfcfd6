import type { Code } from "@connectrpc/connect";
import { codeFromString, codeToHttpStatus, codeToString } from "@connectrpc/connect/protocol-connect";
import { describe, expect, test } from "vitest";
import { type ErrorCode, MemoryError } from "../../src/errors.js";
import { toConnectError } from "../../src/server/wire/errors.js";

import { read, rows, section, sources, unquoted } from "../support/documents.js";

describe("docs/errors.md", () => {
  const listed = new Map(
    rows(section("docs/errors.md", "## Codes")).map(([code, http]) => [unquoted(code), http]),
  );
  const [, union = ""] = /export type ErrorCode =([^;]+);/.exec(read("src/errors.ts")) ?? [];
  const codes = [...union.matchAll(/"(\w+)"/g)].map(([, code]) => code as ErrorCode);

  test.each(codes)("lists %s with the status it has on the wire", (code) => {
    const { code: onWire } = toConnectError(new MemoryError(code, ""));
    expect(codeToString(onWire)).toBe(code);
    expect(listed.get(code)).toContain(String(codeToHttpStatus(onWire)));
  });

  test.each([...listed])("lists only codes that there are: %s", (code, http) => {
    const onWire = codeFromString(code) as Code | undefined;
    expect(onWire).toBeDefined();
    expect(http).toContain(String(codeToHttpStatus(onWire as Code)));
  });

  test("lists every reason that the source gives, and no other", () => {
    const given = [...sources.values()].flatMap((source) => {
      const literal = [...source.matchAll(/(?:\breason: |denied\(\s*)"([A-Z_]+)"/g)].map(([, each]) => each);
      const named = [...source.matchAll(/\breason: ([A-Z_]+)\b/g)].map(
        ([, name]) => new RegExp(`const ${name} = "([A-Z_]+)"`).exec(source)?.[1],
      );
      return [...literal, ...named];
    });
    const reasons = rows(section("docs/errors.md", "## Reasons")).map(([reason]) => unquoted(reason));
    expect(reasons.sort()).toEqual([...new Set(given)].sort());
  });
});
