import { expect, it } from "vitest";
import { progressBar, progressText } from "../../src/embedding/models/pull.js";

function screen(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, written, write: (text: string) => written.push(text) };
}

it("a line of progress tells the file, the share and the bytes", () => {
  expect(progressText({ file: "x/model.onnx", bytes: 11_650_000, bytesTotal: 23_300_000 })).toBe(
    "x/model.onnx [############            ]  50 %  11.7 of 23.3 MB",
  );
  expect(progressText({ file: "x/config.json", bytes: 612 })).toBe("x/config.json 0.0 MB");
});

it("a terminal is redrawn in place, ten times a second at most, and left on a new line", () => {
  let nowMs = 0;
  const terminal = screen(true);
  const { report } = progressBar(terminal, () => nowMs);
  for (let bytes = 1; bytes <= 100; bytes++) {
    report({ file: "f", bytes, bytesTotal: 100 });
    nowMs += 10;
  }
  expect(terminal.written).toHaveLength(11);
  expect(terminal.written[0]).toBe(`\r\x1b[K${progressText({ file: "f", bytes: 1, bytesTotal: 100 })}`);
  expect(terminal.written.at(-1)).toMatch(/100 %.*\n$/);
});

it("a log gets a plain line every five seconds, and one at the end", () => {
  let nowMs = 0;
  const log = screen(false);
  const { report } = progressBar(log, () => nowMs);
  for (let bytes = 1; bytes <= 100; bytes++) {
    report({ file: "f", bytes, bytesTotal: 100 });
    nowMs += 100;
  }
  expect(log.written.map((line) => /\d+ %/.exec(line)?.[0])).toEqual(["1 %", "51 %", "100 %"]);
  expect(log.written.every((line) => /^f .*\n$/.test(line))).toBe(true);
});

it("a bar that was broken off is left on a line of its own, once", () => {
  const terminal = screen(true);
  const bar = progressBar(terminal, () => 0);
  bar.report({ file: "f", bytes: 1, bytesTotal: 100 });
  bar.end();
  bar.end();
  expect(terminal.written.slice(1)).toEqual(["\n"]);
  const done = screen(true);
  const whole = progressBar(done, () => 0);
  whole.report({ file: "f", bytes: 100, bytesTotal: 100 });
  whole.end();
  expect(done.written).toHaveLength(1);
});
