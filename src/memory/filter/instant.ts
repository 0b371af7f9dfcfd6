const FORM = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/**
 * Parses a time of RFC 3339 into milliseconds since 1970; undefined if it is none. What lies between two
 * milliseconds becomes half of one: stored times are whole ones, so every comparison comes out the same.
 */
export function parseInstant(text: string): number | undefined {
  const found = FORM.exec(text);
  if (found === null) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as Six;
  const [, , , , , , , fraction = "", sign, offsetHours = "0", offsetMinutes = "0"] = found;
  const isTime = hour <= 23 && minute <= 59 && second <= 59;
  if (!isTime || Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined;
  const wholeMs = new Date(0).setUTCFullYear(year, month - 1, day);
  // A day that the month does not have would become one of the next month.
  if (new Date(wholeMs).getUTCMonth() !== month - 1 || new Date(wholeMs).getUTCDate() !== day)
    return undefined;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === "-" ? -1 : 1);
  const seconds = (hour * 60 + minute - offset) * 60 + second;
  return wholeMs + seconds * 1000 + millisecondsIn(fraction.padEnd(9, "0"));
}

type Six = [number, number, number, number, number, number];

function millisecondsIn(nanoseconds: string): number {
  return instantOf({ seconds: 0, nanos: Number(nanoseconds) });
}

export function instantOf({ seconds, nanos }: { seconds: number; nanos: number }): number {
  const rest = nanos % 1_000_000;
  return seconds * 1000 + (nanos - rest) / 1_000_000 + (rest > 0 ? 0.5 : 0);
}
