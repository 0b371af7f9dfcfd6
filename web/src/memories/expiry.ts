import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";

/** Writes a time for an `<input type="datetime-local">`, in the browser's time zone; empty for none. */
export function toInput(time: Timestamp | undefined): string {
  if (time === undefined) return "";
  const date = timestampDate(time);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Reads such an input; undefined for none. */
export function fromInput(value: string): Timestamp | undefined {
  return value === "" ? undefined : timestampFromDate(new Date(value));
}
