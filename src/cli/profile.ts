import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Server } from "./client.js";
import { UsageError } from "./failure.js";

const URL_DEFAULT = "http://127.0.0.1:8080";

/** Contents of the profile file: the server that commands call, and the key for it. */
interface Profile {
  readonly url?: string;
  readonly api_key?: string;
}

/** Path of the profile: RECALLD_PROFILE, or the one below the user's configuration. */
export function profilePath(env: NodeJS.ProcessEnv): string {
  const config = env.XDG_CONFIG_HOME ?? join(homedir(), ".config");
  return env.RECALLD_PROFILE ?? join(config, "recalld", "profile.json");
}

/**
 * Finds the server to call: by option, by RECALLD_URL and RECALLD_API_KEY, or else by the profile.
 *
 * @throws UsageError if the profile is not a profile.
 */
export function serverOf(given: { url?: string }, env: NodeJS.ProcessEnv): Server {
  const profile = readProfile(profilePath(env));
  const url = given.url ?? env.RECALLD_URL ?? profile.url ?? URL_DEFAULT;
  // A key is for one server: it is not shown to another.
  const own = url === (profile.url ?? URL_DEFAULT) ? profile.api_key : undefined;
  return { url, key: env.RECALLD_API_KEY ?? own };
}

/** Writes the profile, which nobody but its owner may read. */
export function writeProfile(path: string, profile: Required<Profile>): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, `${JSON.stringify(profile, null, 2)}\n`, { mode: 0o600 });
  // An existing file keeps its mode when it is written.
  chmodSync(path, 0o600);
}

/** Reads the profile; an absent one is empty. */
export function readProfile(path: string): Profile {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Profile;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new UsageError(`${path} cannot be read as a profile: ${(error as Error).message}`);
  }
}
