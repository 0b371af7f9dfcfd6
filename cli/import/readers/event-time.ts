/** Members in which programs keep when something happened: the first that is a time counts. */
const NAMES = ["event_time", "created_at", "createdAt", "timestamp", "date", "time"];
/** Times of RFC 3339, also without a zone, which is UTC then, and days. */
const FORM = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?([Zz]|[+-]\d\d:?\d\d)?)?$/;
/** Numbers from which on they are seconds since 1970, and milliseconds; smaller ones are no times. */
const SECONDS_MIN = 1e8;
const MILLISECONDS_MIN = 1e11;

/** Reads a time as RFC 3339 of UTC: a text, or seconds or milliseconds since 1970. Undefined if it is none. */
export function timeOf(value: unknown): string | undefined {
  if (typeof value === "string") return timeOfText(value);
  if (typeof value !== "number" || value < SECONDS_MIN) return undefined;
  return inUtc(new Date(value < MILLISECONDS_MIN ? value * 1000 : value));
}

/** Finds the time among the members of an object, by the names that programs give it. */
export function timeIn(members: object): { eventTime?: string } {
  const values = members as Readonly<Record<string, unknown>>;
  for (const name of NAMES) {
    const eventTime = Object.hasOwn(values, name) ? timeOf(values[name]) : undefined;
    if (eventTime !== undefined) return { eventTime };
  }
  return {};
}

function timeOfText(text: string): string | undefined {
  const [, day, time = "00:00", zone = "Z"] = FORM.exec(text) ?? [];
  // A day that the month does not have would become one of the next month.
  if (day === undefined || !inUtc(new Date(`${day}T00:00:00Z`))?.startsWith(day)) return undefined;
  return inUtc(new Date(`${day}T${time}${zone.toUpperCase()}`));
}

/** Writes a time as RFC 3339 of UTC; undefined if that has no form for it. */
export function inUtc(time: Date): string | undefined {
  if (Number.isNaN(time.getTime())) return undefined;
  const year = time.getUTCFullYear();
  return year >= 1 && year <= 9999 ? time.toISOString() : undefined;
}
