import { describe, expect, test } from "vitest";
import { loadConfig, SETTINGS } from "../../src/config/config.js";
import { HUB } from "../../src/embedding/models/pull.js";

import { quoted, rows, section, unquoted } from "../support/documents.js";

describe("docs/configuration.md", () => {
  const settings = rows(section("docs/configuration.md", "## Settings"));
  // In the order of the settings.
  const defaults = Object.values(loadConfig({}));
  const accepts = (name = "", value: string | number) => {
    try {
      loadConfig({ [unquoted(name)]: String(value) });
      return true;
    } catch {
      return false;
    }
  };

  test("lists every setting, in the order of the source", () => {
    expect(settings.map(([name]) => unquoted(name))).toEqual(SETTINGS);
  });

  test.each(settings)("tells the default of %s: %s", (name, shown) => {
    const value = defaults[(SETTINGS as readonly string[]).indexOf(unquoted(name))];
    const none = value === undefined || (Array.isArray(value) && value.length === 0);
    // Some defaults depend on other settings and are given in words.
    const said: Record<string, string> = {
      MODELS_HUB: `\`${HUB}\``,
      MODEL_POOLING: "the model's own",
      MODEL_QUERY_PREFIX: "the model's own",
      MODEL_PASSAGE_PREFIX: "the model's own",
      MODELS_DIR: "`models` in `DATA_DIR`",
      EMBED_WORKERS: "cores less one, at least 1",
    };
    expect(shown).toBe(said[unquoted(name)] ?? (none ? "none" : `\`${value}\``));
  });

  const ranges = settings.flatMap(([name, , values = ""]) => {
    const [, min, max] = /^(\d+) (?:to (\d+)|or more)/.exec(values) ?? [];
    return min === undefined ? [] : [{ name, min: Number(min), max: max && Number(max) }];
  });
  test.each(ranges)("tells the range of $name", ({ name, min, max }) => {
    expect(accepts(name, min)).toBe(true);
    expect(accepts(name, min - 1)).toBe(false);
    if (!max) return;
    expect(accepts(name, max)).toBe(true);
    expect(accepts(name, max + 1)).toBe(false);
  });

  test.each(["SIGNUP", "LOG_LEVEL", "MODEL_POOLING", "RECALL_MODE"])("tells the choices of %s", (name) => {
    const values = quoted(settings.find(([each]) => unquoted(each) === name)?.[2]);
    expect(values.filter((value) => !accepts(name, value))).toEqual([]);
    const choices = /one of (.*)$/.exec(
      (() => {
        try {
          return String(loadConfig({ [name]: "?" }));
        } catch (error) {
          return (error as Error).message;
        }
      })(),
    )?.[1];
    expect(values.join(", ")).toBe(choices);
  });
});
