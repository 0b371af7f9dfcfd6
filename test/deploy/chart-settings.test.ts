import { describe, expect, test, vi } from "vitest";
import { loadConfig, SETTINGS } from "../../src/config/config.js";
import { schema, values } from "../support/chart.js";
import { MANAGED } from "../support/rendered-chart.js";

// Helm and servers start here, on machines that may be busy.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

describe("the chart's settings", () => {
  const { properties } = schema.properties.settings;
  const accepts = (name: string, value: unknown) => {
    try {
      loadConfig({ [name]: String(value) });
      return true;
    } catch {
      return false;
    }
  };

  test("are all that there are, but for what the chart sets itself and the key, which extraEnv takes of a secret", () => {
    const others = [...MANAGED, "EMBED_API_KEY"];
    expect(Object.keys(properties)).toEqual(SETTINGS.filter((name) => !others.includes(name)));
  });

  const ranges = Object.entries<{ type?: string; minimum?: number; maximum?: number }>(properties).filter(
    ([, { type }]) => type === "integer",
  );
  test.each(ranges)(
    "have the program's range for %s",
    (name, { minimum = Number.NaN, maximum = Number.NaN }) => {
      expect([minimum - 1, minimum, maximum].map((value) => accepts(name, value))).toEqual([
        false,
        true,
        true,
      ]);
      if (maximum < Number.MAX_SAFE_INTEGER) expect(accepts(name, maximum + 1)).toBe(false);
    },
  );

  const choices = Object.entries<{ enum?: string[] }>(properties).filter(([, each]) => each.enum);
  test.each(choices)("have the program's choices for %s", (name, each) => {
    const said = () => loadConfig({ [name]: "?" });
    expect(said).toThrow(`one of ${each.enum?.join(", ")}`);
  });

  test("other values are known to the schema, and all of the schema are there", () => {
    // biome-ignore lint/suspicious/noExplicitAny: a tree of any depth.
    const paths = (schema: any, at = ""): string[] =>
      Object.entries<never>(schema).flatMap(([name, value]) =>
        typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
          ? paths(value, `${at}${name}.`)
          : [`${at}${name}`],
      );
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    const leaves = (schema: any, at = ""): string[] =>
      Object.entries<Record<string, unknown>>(schema.properties).flatMap(([name, each]) =>
        each.properties ? leaves(each, `${at}${name}.`) : [`${at}${name}`],
      );
    const outer = (all: string[]) =>
      all
        .filter(
          (path) =>
            !/^settings\.|^global$|^plans|dashboard\.labels|limits\.cpu$|ephemeral-storage$|mongodb.*resources/.test(
              path,
            ),
        )
        .sort();
    expect(outer(paths(values))).toEqual(outer(leaves(schema)));
  });
});
