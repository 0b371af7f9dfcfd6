import { barOf, ProgressLine, type Screen } from "../src/progress.js";

/** Shows the progress: in place on a terminal, and as plain lines elsewhere. */
export class Progress {
  readonly #line: ProgressLine;

  constructor(private readonly screen: Screen = process.stderr) {
    this.#line = new ProgressLine(screen, { redrawMs: 200, lineEveryMs: 30_000 });
  }

  report(what: string, done: number, total: number): void {
    this.#line.show(`${what} ${barOf(done / total)}  ${Math.floor(done)} of ${total}`);
  }

  /** Writes a line that stays. */
  say(line: string): void {
    this.#line.end();
    this.screen.write(`${line}\n`);
  }
}
