const BAR_WIDTH = 24;
const REDRAW_MS = 200;
/** Pause between lines in a log file, where an occasional line is enough. */
const LINE_EVERY_MS = 30_000;

/** Shows the progress: in place on a terminal, and as plain lines elsewhere. */
export class Progress {
  #lastMs = Number.NEGATIVE_INFINITY;
  #isOpen = false;

  constructor(private readonly screen: { isTTY?: boolean; write(text: string): unknown } = process.stderr) {}

  report(what: string, done: number, total: number): void {
    const everyMs = this.screen.isTTY ? REDRAW_MS : LINE_EVERY_MS;
    if (performance.now() - this.#lastMs < everyMs) return;
    this.#lastMs = performance.now();
    const part = done / total;
    const bar = "#".repeat(Math.floor(part * BAR_WIDTH)).padEnd(BAR_WIDTH);
    const line = `${what} [${bar}] ${Math.floor(part * 100)} %  ${Math.floor(done)} of ${total}`;
    this.screen.write(this.screen.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
    this.#isOpen = this.screen.isTTY === true;
  }

  /** Writes a line that stays. */
  say(line: string): void {
    this.screen.write(`${this.#isOpen ? "\r\x1b[K" : ""}${line}\n`);
    this.#isOpen = false;
  }
}
