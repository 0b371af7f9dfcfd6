import { text as readAll } from "node:stream/consumers";
import * as client from "../clients/typescript/src/index.js";
import { printable } from "../src/admin/show.js";
import { count as grouped } from "../src/errors.js";
import { UsageError } from "./failure.js";
import { print, short, tableOf, toTheSecond } from "./output.js";
import {
  checkWritable,
  connect,
  HEADERS,
  loginOf,
  type Options,
  profilePath,
  writeLogin,
} from "./profile.js";

/** Number of calls by which GetAccount says that a plan has no limit. */
const UNLIMITED = 2_147_483_647;

export async function signUp({ email, ...given }: Options & { email?: string }): Promise<void> {
  const login = loginOf(given);
  const path = profilePath();
  if (login.api_key !== undefined) {
    throw new UsageError(
      `${path} has a key for ${login.url} already, which stays: give another account a name by --profile`,
    );
  }
  await checkWritable();
  const { accountId, apiKey } = await client.signUp({ email }, { baseUrl: login.url, headers: HEADERS });
  await writeLogin({ ...login, api_key: apiKey });
  print(given, { accountId, profile: path }, () => [
    `Account ${accountId}. Its key is in ${path}, which only you can read.`,
  ]);
}

/** Keeps a key that there is already. It is read from the standard input: others can see a command's line. */
export async function logIn(given: Options): Promise<void> {
  const login = loginOf(given);
  const { url } = login;
  if (process.stdin.isTTY) console.error("Paste the key, then press Enter and Ctrl-D:");
  const key = (await readAll(process.stdin)).trim();
  if (key === "") throw new UsageError("give the key on the standard input");
  await checkWritable();
  const recalld = new client.Recalld({ baseUrl: url, apiKey: key, headers: HEADERS });
  const { accountId } = await recalld.account.get();
  await writeLogin({ ...login, api_key: key });
  print(given, { accountId, url }, () => [`Account ${accountId} of ${url}. Its key is in ${profilePath()}.`]);
}

export async function logOut(given: Options): Promise<void> {
  const { api_key: key, ...login } = loginOf(given);
  const { url } = login;
  if (key === undefined) throw new UsageError(`${profilePath()} has no key for ${url}`);
  await writeLogin(login);
  print(given, { url }, () => [`the key for ${url} is forgotten here; it still works until it is revoked`]);
}

export async function whoAmI(given: Options): Promise<void> {
  const answer = await connect(given).account.get();
  const { url } = loginOf(given);
  print(given, { url, ...answer }, () => [`account ${answer.accountId} of ${url}`]);
}

export async function account(given: Options): Promise<void> {
  const answer = await connect(given).account.get();
  const { accountId, email, plan, callsUsed, callsLimit, createdAt } = answer;
  print(given, answer, () => [
    `account  ${accountId}`,
    ...(email ? [`email    ${printable(email)}`] : []),
    `plan     ${printable(plan)}`,
    `calls    ${grouped(callsUsed)} of ${callsLimit === UNLIMITED ? "any number" : grouped(callsLimit)}`,
    `since    ${createdAt}`,
  ]);
}

export async function closeAccount(accountId: string, given: Options): Promise<void> {
  const answer = await connect(given).account.close({ accountId });
  print(given, answer, () => [`account ${accountId} is closed, and all that it held is erased`]);
}

export async function usage({ days, ...given }: Options & { days?: number }): Promise<void> {
  const answer = await connect(given).account.usage({ days });
  print(given, answer, () =>
    tableOf(
      {
        date: ({ date }) => short(date),
        stores: ({ stores }) => grouped(stores),
        recalls: ({ recalls }) => grouped(recalls),
      },
      answer.days,
    ),
  );
}

export async function listKeys(given: Options): Promise<void> {
  const answer = await connect(given).account.listKeys();
  print(given, answer, () =>
    tableOf(
      {
        id: ({ id }) => short(id),
        name: ({ name }) => short(name),
        prefix: ({ prefix }) => short(prefix),
        namespace: ({ namespace }) => short(namespace),
        created: ({ createdAt }) => toTheSecond(createdAt),
      },
      answer.keys,
    ),
  );
}

interface CreatingKey extends Options {
  readonly name?: string;
  readonly readOnly?: boolean;
  readonly namespace?: string;
}

export async function createKey({ name, readOnly, namespace, ...given }: CreatingKey): Promise<void> {
  const access = readOnly ? "KEY_ACCESS_READ_ONLY" : undefined;
  const answer = await connect(given).account.createKey({ name, namespace, access });
  if (!given.json) console.error("The key is shown this once:");
  print(given, answer, () => [answer.apiKey]);
}

export async function revokeKey(
  id: string,
  { force, ...given }: Options & { force?: boolean },
): Promise<void> {
  const answer = await connect(given).account.revokeKey({ id, force });
  print(given, answer, () => [`${id} revoked`]);
}
