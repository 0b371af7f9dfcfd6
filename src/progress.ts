/** A stream on which progress is shown; `process.stderr` is one. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface ProgressOptions {
  /** Shortest time between two changes of the line on a terminal; 0 when left out. */
  readonly redrawMs?: number;
  /** Shortest time between two lines elsewhere, such as in a log file; 0 when left out. */
  readonly lineEveryMs?: number;
  readonly now?: () => number;
}

const BAR_WIDTH = 24;

/** Shows progress as one line that is written over on a terminal, and as plain lines elsewhere. */
export class ProgressLine {
  readonly #everyMs: number;
  readonly #now: () => number;
  #lastMs = Number.NEGATIVE_INFINITY;
  #line = "";
  #isOpen = false;

  constructor(
    private readonly screen: Screen,
    { redrawMs = 0, lineEveryMs = 0, now = () => performance.now() }: ProgressOptions = {},
  ) {
    this.#everyMs = screen.isTTY ? redrawMs : lineEveryMs;
    this.#now = now;
  }

  /** Shows a line, unless it is shown already or comes too soon; the last one never comes too soon. */
  show(line: string, { isLast = false } = {}): void {
    if (line === this.#line || (!isLast && this.#now() - this.#lastMs < this.#everyMs)) return;
    this.#lastMs = this.#now();
    this.#line = line;
    this.screen.write(this.screen.isTTY ? `\r\x1b[K${line}${isLast ? "\n" : ""}` : `${line}\n`);
    this.#isOpen = this.screen.isTTY === true && !isLast;
  }

  /** Ends the line, so that other output begins on a new one. */
  end(): void {
    if (this.#isOpen) this.screen.write("\n");
    this.#isOpen = false;
  }
}

/** Draws a share from 0 to 1 as a bar, such as `[############            ]  50 %`. */
export function barOf(share: number): string {
  const bar = "#".repeat(Math.floor(share * BAR_WIDTH)).padEnd(BAR_WIDTH);
  return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %`;
}
