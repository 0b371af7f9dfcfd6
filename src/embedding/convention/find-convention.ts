import { type Convention, PLAIN, type Pooling } from "../encode/convention.js";
import { familyOf } from "./families.js";
import { windowIn } from "./find-window.js";
import { poolingIn, prefixesIn } from "./sentence-transformers.js";

/** The operator's settings; missing parts are looked up. An empty prefix means none. */
export interface ConventionSettings {
  readonly pooling?: Pooling | undefined;
  readonly queryPrefix?: string | undefined;
  readonly passagePrefix?: string | undefined;
}

export type SettingName = keyof ConventionSettings;

export interface FoundConvention {
  readonly convention: Convention;
  /** Source of each part: a setting, a file of the model, a known family, or a default. */
  readonly from: Readonly<Record<SettingName, string>>;
}

export const ASSUMED = "assumed";
const POOLING_SETTING = "MODEL_POOLING";

/** A part of the convention and its source. */
type Found<T> = readonly [value: T, from: string];

/**
 * Finds the convention of the model in a folder: from the settings, else its own files, else its known
 * family, else the default.
 *
 * @throws MemoryError when a file of the model cannot be read, or asks for something unsupported.
 */
export async function findConvention({
  model,
  folder,
  settings = {},
}: {
  model: string;
  folder: string;
  settings?: ConventionSettings | undefined;
}): Promise<FoundConvention> {
  const [pooling, poolingFrom] = await findPooling({ model, folder, settings });
  const prefixes = await findPrefixes({ model, folder });
  const [queryPrefix, queryFrom] = set(settings.queryPrefix, "MODEL_QUERY_PREFIX") ?? prefixes.query;
  const [passagePrefix, passageFrom] =
    set(settings.passagePrefix, "MODEL_PASSAGE_PREFIX") ?? prefixes.passage;
  return {
    convention: { pooling, queryPrefix, passagePrefix, windowTokens: await windowIn(folder) },
    from: { pooling: poolingFrom, queryPrefix: queryFrom, passagePrefix: passageFrom },
  };
}

/**
 * Corrects the pooling after the model is loaded, when its outputs are known.
 *
 * @throws Error when the operator asked for another pooling.
 */
export function settled(found: FoundConvention, pooling: Pooling): FoundConvention {
  const { convention, from } = found;
  if (convention.pooling === pooling) return found;
  if (from.pooling === POOLING_SETTING) {
    throw new Error(
      `${POOLING_SETTING} is ${convention.pooling}, but of this model there is only ${pooling}`,
    );
  }
  return {
    convention: { ...convention, pooling },
    from: { ...from, pooling: "its outputs, which have no state for each token" },
  };
}

interface SettingSource {
  readonly model: string;
  readonly folder: string;
}

async function findPooling(place: SettingSource & { settings: ConventionSettings }): Promise<Found<Pooling>> {
  const chosen = set(place.settings.pooling, POOLING_SETTING);
  if (chosen !== undefined) return chosen;
  const inFolder = await poolingIn(place.folder);
  if (inFolder !== undefined) return [inFolder.pooling, inFolder.file];
  const family = familyOf(place.model);
  return family === undefined ? [PLAIN.pooling, ASSUMED] : [family.pooling, known(family.name)];
}

async function findPrefixes(place: SettingSource): Promise<Record<"query" | "passage", Found<string>>> {
  const inFolder = await prefixesIn(place.folder);
  if (inFolder !== undefined) {
    const { query, passage, file } = inFolder;
    return { query: [query, file], passage: [passage, file] };
  }
  const family = familyOf(place.model);
  const from = family === undefined ? ASSUMED : known(family.name);
  return { query: [family?.queryPrefix ?? "", from], passage: [family?.passagePrefix ?? "", from] };
}

function set<T>(value: T | undefined, setting: string): Found<T> | undefined {
  return value === undefined ? undefined : [value, setting];
}

function known(family: string): string {
  return `known of ${family}`;
}
