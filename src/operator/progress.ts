/** Shows progress: one line that is overwritten on a terminal, elsewhere a new line for each change. */
export function progressLine(stream: NodeJS.WriteStream): { show(line: string): void; end(): void } {
  let shown = "";
  return {
    show: (line) => {
      if (line === shown) return;
      shown = line;
      stream.write(stream.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
    },
    /** Ends the line, so that further output begins a new one. */
    end: () => {
      if (stream.isTTY && shown !== "") stream.write("\n");
    },
  };
}
