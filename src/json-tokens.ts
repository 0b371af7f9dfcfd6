const [QUOTE, BACKSLASH, PLUS, MINUS, NINE] = [0x22, 0x5c, 0x2b, 0x2d, 0x39];

/**
 * Finds the end of the JSON token that begins here: a string, a number, or else one character. To go from token to
 * token is to see every sign that is not in a string.
 */
export function endOfToken(text: string, start: number, char = text.charCodeAt(start)): number {
  if (char === QUOTE) return endOfString(text, start);
  return beginsNumber(char) ? endOfNumber(text, start) : start + 1;
}

/** Finds the end of a JSON string that begins here; the text's end if it has none. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) return at + 1;
    if (char === BACKSLASH) at++; // whatever is escaped is no end
  }
  return text.length;
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && isOfNumber(text.charCodeAt(end))) end++;
  return end;
}

/** True for a minus and digits, and a point, with which no token of JSON begins. */
export function beginsNumber(char: number): boolean {
  return char >= MINUS && char <= NINE;
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
  return beginsNumber(char) || char === PLUS || (char | 0x20) === 0x65;
}
