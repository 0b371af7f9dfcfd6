export interface Progress {
  readonly file: string;
  readonly bytes: number;
  /** Absent when the server does not tell. */
  readonly bytesTotal?: number | undefined;
}

export interface ProgressBar {
  report(progress: Progress): void;
  /** Leaves a bar that did not get to its end on a line of its own. */
  end(): void;
}

/** Where the bar is drawn; `process.stderr` is one. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const BAR_WIDTH = 24;
const REDRAW_MS = 100;
/** In a log file, a line now and then is enough. */
const LINE_EVERY_MS = 5000;

/** Draws a bar in place on a terminal, and writes plain lines elsewhere. */
export function progressBar(screen: Screen, now: () => number = () => performance.now()): ProgressBar {
  const everyMs = screen.isTTY ? REDRAW_MS : LINE_EVERY_MS;
  let lastMs = Number.NEGATIVE_INFINITY;
  let isOpen = false;
  const report = (progress: Progress) => {
    const isDone = progress.bytes === progress.bytesTotal;
    if (!isDone && now() - lastMs < everyMs) return;
    lastMs = now();
    const line = progressLine(progress);
    screen.write(screen.isTTY ? `\r\x1b[K${line}${isDone ? "\n" : ""}` : `${line}\n`);
    isOpen = screen.isTTY === true && !isDone;
  };
  const end = () => {
    if (isOpen) screen.write("\n");
    isOpen = false;
  };
  return { report, end };
}

/** Such as `X/y/onnx/model.onnx [############            ]  50 %  11.6 of 23.3 MB`. */
export function progressLine({ file, bytes, bytesTotal }: Progress): string {
  if (!bytesTotal) return `${file} ${megabytes(bytes)} MB`;
  const part = bytes / bytesTotal;
  const bar = "#".repeat(Math.floor(part * BAR_WIDTH)).padEnd(BAR_WIDTH);
  const percent = String(Math.floor(part * 100)).padStart(3);
  return `${file} [${bar}] ${percent} %  ${megabytes(bytes)} of ${megabytes(bytesTotal)} MB`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
