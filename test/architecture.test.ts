import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** "About 15": beyond this, a folder cannot be taken in at a glance. */
const FILES_MAX = 16;
/** Files that ARCHITECTURE.md may need to explain one store. */
const WALK_MAX = 30;

const files = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));

const sources = files("src").filter((path) => path.endsWith(".ts"));
const folders = [...new Set(sources.map((path) => dirname(path)))].filter((path) => path !== "src");
const texts = [
  ...sources,
  ...files("docs").filter((path) => path.endsWith(".md")),
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
];
const architecture = read("ARCHITECTURE.md");

function section(heading: string): string {
  const [, rest] = architecture.split(`\n## ${heading}\n`);
  if (rest === undefined) throw new Error(`ARCHITECTURE.md has no "${heading}"`);
  return rest.split("\n## ", 1)[0] as string;
}

describe("the folders of src", () => {
  const described = [...section("The house").matchAll(/^\| `(src\/[^`]+)\/` +\| (.+?) +\|$/gm)];

  test("each has its sentence in ARCHITECTURE.md, and no other is described there", () => {
    expect(described.map(([, path]) => path).sort()).toEqual([...folders].sort());
  });

  test("each sentence is one", () => {
    for (const [, , sentence] of described) expect(sentence).toMatch(/^[A-Z][^|]+\.$/);
  });

  test.each(folders)("%s can be taken in at a glance", (folder) => {
    expect(sources.filter((path) => dirname(path) === folder).length).toBeLessThanOrEqual(FILES_MAX);
  });
});

describe("one store, file by file", () => {
  const walk = [...section("One store").matchAll(/`(src\/[\w/-]+\.ts)`/g)].map(([, path]) => path as string);
  const importsOf = (path: string) =>
    [...read(path).matchAll(/from "(\.[^"]+)\.js"/g)].map(
      ([, to]) => `${normalize(join(dirname(path), to as string))}.ts`,
    );

  test(`it takes ${WALK_MAX} files at most, and none comes twice`, () => {
    expect(walk.length).toBeGreaterThan(10);
    expect(walk.length).toBeLessThanOrEqual(WALK_MAX);
    expect(new Set(walk).size).toBe(walk.length);
  });

  // What implements a port is known to compose.ts alone, so it shares the port with one that came before.
  test.each(walk.slice(1))("%s is imported by a file before it, or has a port in common with one", (path) => {
    const before = walk.slice(0, walk.indexOf(path));
    const known = before.flatMap(importsOf);
    const ports = importsOf(path).filter((each) => /\/ports\/|accounts\/account\.ts$/.test(each));
    expect(known.includes(path) || ports.some((port) => known.includes(port))).toBe(true);
  });
});

/**
 * Words of this house's own that have a standard name, with what the name is. Databases and files keep
 * some of them as names of fields, and only the files that read those fields know them.
 */
const OLD_WORDS: Readonly<Record<string, { word: RegExp; except?: RegExp }>> = {
  "model generation": {
    word: /edition/i,
    except: /^docs\/decisions\.md|^src\/storage\/(model-record|mongo\/system-records)\.ts$/,
  },
  "log id": {
    word: /incarnation/i,
    except:
      /^docs\/decisions\.md|^src\/(storage\/(erasure-record|mongo\/log\/names)|vectors\/snapshot\/(manifest|snapshot))\.ts$/,
  },
  quota: { word: /\b[mM]eter\b|\bcharged\(/ },
  authorize: { word: /\bpermit(Free)?\(|permit\.ts/ },
  principal: { word: /\bguests?\b/i },
  "admin client": { word: /\b(open)?desk\b/i },
  "HTTP server": { word: /bare-?app/i },
  standby: { word: /\bprepared(\.ts|Options)\b|class Prepared\b/ },
  fragmented: { word: /\bworn\b/i },
  maintenance: { word: /\bupkeep\b/i },
  idempotency: { word: /\bOnce(Work|Request)\b|(class|new) Once\b|\bstoreOnce\b|once\.ts/ },
  "with timeout": { word: /mongo\/answer\b/ },
  "slow readers": { word: /server\/answers\b|\bclass Answers\b/ },
  "system records": { word: /\b(Local|Mongo)?Facts\b|\bthe facts\b/ },
  "audit log": { word: /\bnoting\(|noting\.ts/ },
};

describe("the field's words", () => {
  test.each(Object.entries(OLD_WORDS))("%s has no other name", (_name, { word, except }) => {
    const found = texts.filter((path) => !except?.test(path) && word.test(read(path)));
    expect(found).toEqual([]);
  });

  test("a type's name means one thing", () => {
    const ambiguous =
      /^(?:export )?(?:interface|class|type) (Place|Part|Manifest|Waiting|Standing|Snapshots)\b/gm;
    const names = sources.flatMap((path) => [...read(path).matchAll(ambiguous)].map(([, name]) => name));
    expect(names.length).toBe(new Set(names).size);
  });
});

describe("plain words", () => {
  const uncommon =
    /\bmend(ed|s|ing)?\b|\bso (many|much)\b|\bcomes? to be\b|\bgo(es)? away\b|\bwhoever\b|\bof whom\b/i;

  test("the source and the docs use the common word", () => {
    expect(texts.filter((path) => uncommon.test(read(path)))).toEqual([]);
  });
});

describe("docstrings", () => {
  /** Tells whether a program wrote the file; the contract's own words are in proto/. */
  const isBuilt = (path: string) => /^clients\/\w+\/(?:dist\/|src\/contract\.ts$)/.test(path);
  /** The first words of a docstring, on its first line or the next. */
  const begins = /\/\*\*\s+(?:\* )?(Of|From|How|With|For|Behind|As|What|Whose|Who|Which|By|And|Also)\b/;

  test.each(["src", "web/src", "clients", "examples", "test", "bench", "eval"])(
    "each begins with a verb or a noun: %s",
    (folder) => {
      const without = files(folder)
        .filter((path) => /\.(?:tsx?|m?js)$/.test(path) && !path.includes("/.") && !isBuilt(path))
        .flatMap((path) =>
          read(path)
            .split(/(?=\/\*\*)/)
            .filter((text) => begins.test(text))
            .map((text) => `${path}: ${text.slice(0, 60)}`),
        );
      expect(without).toEqual([]);
    },
  );
});
