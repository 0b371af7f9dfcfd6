/** Shows how far something is: one line that is written over on a terminal; elsewhere a line whenever it changes. */
export function progressLine(stream: NodeJS.WriteStream): { show(line: string): void; end(): void } {
  let shown = "";
  return {
    show: (line) => {
      if (line === shown) return;
      shown = line;
      stream.write(stream.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
    },
    /** What is said next begins a line. */
    end: () => {
      if (stream.isTTY && shown !== "") stream.write("\n");
    },
  };
}
