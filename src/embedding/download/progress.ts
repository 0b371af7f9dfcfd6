import { barOf, ProgressLine, type Screen } from "../../progress.js";

export interface Progress {
  readonly file: string;
  readonly bytes: number;
  /** Size of the whole file; absent when the server does not tell it. */
  readonly bytesTotal?: number | undefined;
}

export interface ProgressBar {
  report(progress: Progress): void;
  /** Ends the line of a bar that has not reached its end. */
  end(): void;
}

/** Draws a bar in place on a terminal, ten times a second, and a plain line every 5 seconds elsewhere. */
export function progressBar(screen: Screen, now: () => number = () => performance.now()): ProgressBar {
  const line = new ProgressLine(screen, { redrawMs: 100, lineEveryMs: 5000, now });
  return {
    report: (progress) =>
      line.show(progressText(progress), { isLast: progress.bytes === progress.bytesTotal }),
    end: () => line.end(),
  };
}

/** Says how far a file is, such as `X/y/onnx/model.onnx [############            ]  50 %  11.6 of 23.3 MB`. */
export function progressText({ file, bytes, bytesTotal }: Progress): string {
  if (!bytesTotal) return `${file} ${megabytes(bytes)} MB`;
  return `${file} ${barOf(bytes / bytesTotal)}  ${megabytes(bytes)} of ${megabytes(bytesTotal)} MB`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
