import { text as readAll } from "node:stream/consumers";
import { whole } from "../operator/show.js";
import { numberIn, rowsIn } from "./actions.js";
import { call } from "./client.js";
import { UsageError } from "./failure.js";
import { print, short, tableOf } from "./output.js";
import { checkWritable, loginOf, profilePath, writeLogin } from "./profile.js";
import { type Common, serverWithKey, service } from "./service.js";

/** Number of calls by which GetAccount says that a plan has no limit. */
const UNLIMITED = 2_147_483_647;

export async function signUp({ email, ...given }: Common & { email?: string }): Promise<void> {
  const login = loginOf(given, process.env);
  const path = profilePath(process.env);
  if (login.api_key !== undefined) {
    throw new UsageError(
      `${path} has a key for ${login.url} already, which stays: give another account a name by --profile`,
    );
  }
  checkWritable(process.env);
  const answer = await service(given, { needsKey: false })("AccountService.SignUp", { email });
  writeLogin({ ...login, api_key: String(answer.api_key) }, process.env);
  print(given, { account_id: answer.account_id, profile: path }, () => [
    `Account ${answer.account_id}. Its key is in ${path}, which only you can read.`,
  ]);
}

/** Keeps a key that there is already. It is read from the standard input: others can see a command's line. */
export async function logIn(given: Common): Promise<void> {
  const login = loginOf(given, process.env);
  const { url } = login;
  if (process.stdin.isTTY) console.error("Paste the key, then press Enter and Ctrl-D:");
  const key = (await readAll(process.stdin)).trim();
  if (key === "") throw new UsageError("give the key on the standard input");
  checkWritable(process.env);
  const account = await call({ url, key }, "AccountService.GetAccount", {});
  writeLogin({ ...login, api_key: key }, process.env);
  print(given, { account_id: account.account_id, url }, () => [
    `Account ${account.account_id} of ${url}. Its key is in ${profilePath(process.env)}.`,
  ]);
}

export async function logOut(given: Common): Promise<void> {
  const { api_key: key, ...login } = loginOf(given, process.env);
  const { url } = login;
  if (key === undefined) throw new UsageError(`${profilePath(process.env)} has no key for ${url}`);
  writeLogin(login, process.env);
  print(given, { url }, () => [`the key for ${url} is forgotten here; it still works until it is revoked`]);
}

export async function whoAmI(given: Common): Promise<void> {
  const { url } = serverWithKey(given);
  const answer = await service(given)("AccountService.GetAccount", {});
  print(given, { url, ...answer }, () => [`account ${answer.account_id} of ${url}`]);
}

export async function account(given: Common): Promise<void> {
  const answer = await service(given)("AccountService.GetAccount", {});
  const { account_id: id, email, plan, created_at } = answer;
  const limit = Number(answer.calls_limit ?? 0);
  print(given, answer, () => [
    `account  ${id}`,
    ...(email ? [`email    ${whole(email)}`] : []),
    `plan     ${whole(plan)}`,
    `calls    ${numberIn(answer, "calls_used")} of ${limit === UNLIMITED ? "any number" : limit.toLocaleString("en-US")}`,
    `since    ${created_at}`,
  ]);
}

export async function closeAccount(accountId: string, given: Common): Promise<void> {
  const answer = await service(given)("AccountService.CloseAccount", { account_id: accountId });
  print(given, answer, () => [`account ${accountId} is closed, and all that it held is erased`]);
}

export async function usage({ days, ...given }: Common & { days?: number }): Promise<void> {
  const answer = await service(given)("AccountService.GetUsage", { days });
  print(given, answer, () =>
    tableOf(
      {
        date: ({ date }) => short(date),
        stores: (row) => numberIn(row, "stores"),
        recalls: (row) => numberIn(row, "recalls"),
      },
      rowsIn(answer, "days"),
    ),
  );
}

export async function listKeys(given: Common): Promise<void> {
  const answer = await service(given)("AccountService.ListKeys", {});
  print(given, answer, () =>
    tableOf(
      {
        id: ({ id }) => short(id),
        name: ({ name }) => short(name),
        prefix: ({ prefix }) => short(prefix),
        namespace: ({ namespace }) => short(namespace),
        created: ({ created_at }) => String(created_at ?? "").slice(0, 19),
      },
      rowsIn(answer, "keys"),
    ),
  );
}

interface CreatingKey extends Common {
  readonly name?: string;
  readonly readOnly?: boolean;
  readonly namespace?: string;
}

export async function createKey({ name, readOnly, namespace, ...given }: CreatingKey): Promise<void> {
  const body = { name, namespace, ...(readOnly && { access: "KEY_ACCESS_READ_ONLY" }) };
  const answer = await service(given)("AccountService.CreateKey", body);
  if (!given.json) console.error("The key is shown this once:");
  print(given, answer, () => [String(answer.api_key)]);
}

export async function revokeKey(
  id: string,
  { force = false, ...given }: Common & { force?: boolean },
): Promise<void> {
  const answer = await service(given)("AccountService.RevokeKey", { id, force });
  print(given, answer, () => [`${id} revoked`]);
}
