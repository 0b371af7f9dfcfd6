import { mkdtempSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { newGraph, release, view } from "../../../src/index/vectors/graph.js";

const folder = mkdtempSync(join(tmpdir(), "recalld-graph-"));
const whole = join(folder, "whole");
newGraph(16).save(whole);

const FILES = {
  "is missing": () => join(folder, "missing"),
  "is empty": () => written("empty", ""),
  "is a folder": () => folder,
  "is cut off": () => written("cut", readFileSync(whole).subarray(0, 50)),
  "is something else": () => written("else", "This is a text, and not a graph. ".repeat(9)),
};

function written(name: string, content: string | Buffer): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

it.runIf(process.platform === "linux").each(Object.entries(FILES))(
  "a graph's file that %s is refused, and no other file is closed (Linux only: it reads /proc)",
  (_, pathOf) => {
    const first = readlinkSync("/proc/self/fd/0");
    expect(() => view(newGraph(16), pathOf())).toThrow();
    expect(readlinkSync("/proc/self/fd/0")).toBe(first);
  },
);

it("a graph's file is opened, and may be removed then", () => {
  const graph = newGraph(16);
  view(graph, whole);
  expect(graph.size()).toBe(0);
});

it.runIf(process.platform === "linux")(
  "a graph's file is let go where no temporary file can be written, as in the shipped container (Linux only: it reads /proc)",
  () => {
    const path = join(folder, "let-go");
    const written = newGraph(16);
    written.add(1n, new Float32Array(16).fill(1), 1);
    written.save(path);
    const isMapped = () => readFileSync("/proc/self/maps", "utf8").includes(path);
    const graph = newGraph(16);
    view(graph, path);
    expect(isMapped()).toBe(true);
    vi.stubEnv("TMPDIR", join(folder, "missing"));
    release(graph);
    vi.unstubAllEnvs();
    expect(isMapped()).toBe(false);
  },
);
