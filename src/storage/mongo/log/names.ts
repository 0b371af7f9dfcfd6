import { randomBytes } from "node:crypto";
import type { Collection } from "mongodb";
import { type Generation, inGeneration } from "../../../memory/ports/generation.js";
import type { Head, Listed, Named, Scope } from "../../../memory/ports/log.js";
import { findOrInsert } from "../find-or-insert.js";
import { afterAll } from "./number.js";

export interface NameRecord {
  /** Id of the form `<account>:<namespace>`; account ids have no colon. */
  readonly _id: string;
  readonly logId: string;
}

type Names = Collection<NameRecord>;

export async function findName(names: Names, scope: Scope): Promise<string | undefined> {
  return (await names.findOne({ _id: idOf(scope) }))?.logId;
}

/** Finds a name's log or creates one; concurrent calls all get the same log. */
export async function findOrCreateName(names: Names, scope: Scope, generation: Generation): Promise<string> {
  const logId = inGeneration(randomBytes(10).toString("hex"), generation);
  return (await findOrInsert(names, { _id: idOf(scope), logId })).logId;
}

export async function removeName(names: Names, scope: Scope, logId: string): Promise<void> {
  await names.deleteOne({ _id: idOf(scope), logId });
}

export async function renameName(
  names: Names,
  scope: Scope,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await names.updateOne({ _id: idOf(scope), logId: from }, { $set: { logId: to } });
}

/** Creates the index by which the name of a log is found. */
export async function indexNames(names: Names): Promise<void> {
  await names.createIndex({ logId: 1 });
}

/** Finds the name that points to a log. */
export async function findScope(names: Names, logId: string): Promise<Scope | undefined> {
  const found = await names.findOne({ logId }, { projection: { _id: 1 } });
  return found === null ? undefined : scopeOf(found._id);
}

export async function allNames(
  names: Names,
  { after, limit }: { after?: Scope | undefined; limit: number },
): Promise<Named[]> {
  const behind = after ? { _id: { $gt: idOf(after) } } : {};
  const found = await names.find(behind, { sort: { _id: 1 }, limit }).toArray();
  return found.map(({ _id, logId }) => ({ scope: scopeOf(_id), logId }));
}

export async function listNames(
  names: Names,
  { accountId, after = "", prefix = "", limit }: Listed,
): Promise<Head[]> {
  const $gte = idOf({ accountId, namespace: prefix });
  const _id = { $gte, $gt: idOf({ accountId, namespace: after }), $lt: afterAll($gte) };
  const found = await names.find({ _id }, { sort: { _id: 1 }, limit }).toArray();
  return found.map(({ _id, logId }) => ({ namespace: _id.slice(accountId.length + 1), logId }));
}

function scopeOf(id: string): Scope {
  const colon = id.indexOf(":");
  return { accountId: id.slice(0, colon), namespace: id.slice(colon + 1) };
}

function idOf({ accountId, namespace }: Scope): string {
  return `${accountId}:${namespace}`;
}
