import { PLAIN } from "../encode/convention.js";
import { ASSUMED, type FoundConvention, type SettingName } from "./find-convention.js";

const NAMES: Readonly<Record<SettingName, string>> = {
  pooling: "pooling",
  queryPrefix: "query prefix",
  passagePrefix: "passage prefix",
};

/** Describes each part in a line, such as `query prefix "query: " (known of e5)`. */
export function describeConvention(found: FoundConvention): string[] {
  return (Object.keys(NAMES) as SettingName[]).map((part) => describe(found, part));
}

/** Selects the lines that an operator should see at the start: unusual values and guesses. */
export function remarkable(found: FoundConvention): string[] {
  const { convention, from } = found;
  const parts = (Object.keys(NAMES) as SettingName[]).filter(
    (part) => convention[part] !== PLAIN[part] || (part === "pooling" && from[part] === ASSUMED),
  );
  return parts.map((part) => describe(found, part));
}

function describe({ convention, from }: FoundConvention, part: SettingName): string {
  const value = convention[part];
  const shown = part === "pooling" ? value : value === "" ? "none" : JSON.stringify(value);
  return `${NAMES[part]} ${shown} (${from[part]})`;
}
