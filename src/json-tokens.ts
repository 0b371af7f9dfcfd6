const [QUOTE, BACKSLASH, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x2d, 0x30, 0x39];

/** Finds the end of a JSON string that begins here; the text's end if it has none. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) return at + 1;
    if (char === BACKSLASH) at++; // whatever is escaped is no end
  }
  return text.length;
}

/** Finds the end of a JSON number that begins here. */
export function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && isOfNumber(text.charCodeAt(end))) end++;
  return end;
}

export function isDigit(char: number): boolean {
  return char >= ZERO && char <= NINE;
}

/** True if an integer, as JSON writes it, comes back digit by digit when it is read as a double. */
export function isHeld(literal: string): boolean {
  return digitsOf(Number(literal)) === literal;
}

/** Writes a double as JavaScript does, without an exponent. */
function digitsOf(value: number): string {
  const [mantissa = "", exponent] = String(value).split("e+");
  if (exponent === undefined) return mantissa;
  const [whole = "", fraction = ""] = mantissa.split(".");
  return whole + fraction.padEnd(Number(exponent), "0");
}

/** True for digits and `+ - . E e`. */
function isOfNumber(char: number): boolean {
  return isDigit(char) || char === 0x2b || char === MINUS || char === 0x2e || (char | 0x20) === 0x65;
}
