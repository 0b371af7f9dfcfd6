import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Recalld } from "../clients/typescript/src/index.js";
import { isObject } from "../src/memory/requests/metadata.js";
import { VERSION } from "../src/version.js";
import { EXIT, UsageError } from "./failure.js";
import type { Output } from "./output.js";
import { withLock, writeWhole } from "./write-file.js";

const URL_DEFAULT = "http://127.0.0.1:8080";
/** The name of a key for which none is given. */
const NAME_DEFAULT = "default";

/** The key for one server, under one name: a user may have several accounts there. */
interface Login {
  readonly url: string;
  readonly profile?: string;
  readonly api_key?: string;
}

/** Server that is called, and the key that is shown there. */
export interface Server {
  readonly url: string;
  readonly key: string | undefined;
}

/** Contents of the profile file: the latest login, and the others, the latest first. */
interface Profile extends Partial<Login> {
  readonly others?: readonly Login[];
}

interface Named {
  readonly url?: string;
  readonly profile?: string;
}

/** Path of the profile: RECALLD_PROFILE, or the one below the user's configuration. */
export function profilePath(): string {
  const config = process.env.XDG_CONFIG_HOME || join(homedir(), ".config");
  return process.env.RECALLD_PROFILE || join(config, "recalld", "profile.json");
}

/**
 * Address of a server in the one form that is compared: `http://` may be missing, and upper case, a default
 * port or slashes at the end make no other server.
 *
 * @throws UsageError if it is no address.
 */
export function addressOf(url: string): string {
  const whole = /^[a-z][a-z\d+.-]*:\/\//i.test(url) ? url : `http://${url}`;
  if (!URL.canParse(whole)) {
    throw new UsageError(`${JSON.stringify(url)} is no address of a server: give one such as ${URL_DEFAULT}`);
  }
  const { protocol, username, origin, pathname } = new URL(whole);
  if (!["http:", "https:"].includes(protocol) || username !== "") {
    throw new UsageError(`${protocol}//… is no address of a server: give one such as ${URL_DEFAULT}`);
  }
  return origin + pathname.replace(/\/+$/, "");
}

/**
 * Finds the server to call: by option, by RECALLD_URL and RECALLD_API_KEY, or else by the profile.
 *
 * @throws UsageError if the profile is needed and is not one.
 */
export function serverOf(given: Named): Server {
  const { RECALLD_API_KEY: key, RECALLD_URL } = process.env;
  const named = given.url || RECALLD_URL;
  // Nothing is missing then, so that a profile that this user may not read is no fault.
  if (key && named) return { url: addressOf(named), key };
  const { url, api_key: own } = loginOf(given);
  return { url, key: key || own };
}

/** The profile's login for the server that is called. A key is for one server: it is not shown to another. */
export function loginOf({ url, profile }: Named): Login {
  const name = profile === undefined ? {} : { profile };
  const logins = readLogins().filter((login) => nameOf(login) === nameOf(name));
  const address = addressOf(url || process.env.RECALLD_URL || logins[0]?.url || URL_DEFAULT);
  return logins.find((login) => login.url === address) ?? { url: address, ...name };
}

/** Puts a login in the place of the one of this server and name. Without a key it is forgotten. */
export function writeLogin(login: Login): Promise<void> {
  return change((logins) => {
    const kept = logins.filter((each) => each.url !== login.url || nameOf(each) !== nameOf(login));
    return login.api_key === undefined ? kept : [login, ...kept];
  });
}

/** Fails now if a key could not be written later: a key is shown once, by the server too. */
export function checkWritable(): Promise<void> {
  return change((logins) => logins);
}

export function hasLogin(): boolean {
  return readLogins().length > 0;
}

function nameOf({ profile = NAME_DEFAULT }: Pick<Login, "profile">): string {
  return profile;
}

/** Only its owner may read the file. */
function change(how: (logins: readonly Login[]) => readonly Login[]): Promise<void> {
  const path = profilePath();
  return withLock(path, () => {
    const [latest, ...others] = how(readLogins());
    writeWhole(path, { ...latest, ...(others.length > 0 && { others }) } satisfies Profile);
  });
}

/** Reads the logins, the latest first; an absent file has none. */
function readLogins(): Login[] {
  const path = profilePath();
  try {
    const profile: unknown = JSON.parse(readFileSync(path, "utf8"));
    const { others = [], ...latest } = isObject(profile) ? (profile as Profile) : { others: [profile] };
    // Without any login it is empty.
    return (Object.keys(latest).length > 0 ? [latest, ...others] : others).map(loginIn);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new UsageError(`${path} cannot be read as a profile: ${(error as Error).message}`);
  }
}

function loginIn(value: unknown): Login {
  const login: Login = Object(value);
  const { url, profile = "", api_key = "" } = login;
  if ([url, profile, api_key].every((text) => typeof text === "string"))
    return { ...login, url: addressOf(url) };
  throw new Error("a login in it has no url, or a name or key that is no text");
}

/** Options that every command has. */
export interface Options extends Output, Named {}

/** Options of the commands that are about one namespace. */
export interface NamespaceOptions extends Options {
  readonly namespace: string;
}

export const HEADERS = { "user-agent": `recalld-cli/${VERSION}` };

/** Makes a client of the server that the options name. @throws UsageError if there is no key for it */
export function connect(given: Named, { retries }: { retries?: number } = {}): Recalld {
  const { url, key } = serverOf(given);
  if (key === undefined) {
    throw new UsageError(
      `no key for ${url}: set RECALLD_API_KEY, or make an account by recalld signup`,
      EXIT.denied,
    );
  }
  return new Recalld({ baseUrl: url, apiKey: key, headers: HEADERS, retries });
}
