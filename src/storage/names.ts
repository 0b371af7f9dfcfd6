import { randomBytes } from "node:crypto";
import { unavailable } from "../errors.js";
import { FIRST_MODEL_VERSION, inModelVersion } from "../memory/ports/model-version.js";
import {
  type Listed,
  lostName,
  type Named,
  type Names,
  type Recent,
  type Scope,
} from "../memory/ports/names.js";
import type { Records } from "../memory/ports/records.js";

/** The name of a log, whose id is that of its namespace. */
export interface NameRecord {
  readonly id: string;
  readonly logId: string;
}

export class StoredNames implements Names {
  /** @param names records that have an index of their logs */
  constructor(private readonly names: Records<NameRecord>) {}

  async find(scope: Scope): Promise<string | undefined> {
    return (await this.names.find(idOf(scope)))?.logId;
  }

  /** Finds a name's log or creates one; concurrent calls all get the same log. */
  async create(scope: Scope, modelVersion = FIRST_MODEL_VERSION): Promise<string> {
    // An existing name is only read: inserting would wait for the disk.
    const found = await this.find(scope);
    if (found !== undefined) return found;
    const logId = inModelVersion(randomBytes(10).toString("hex"), modelVersion);
    return (await this.names.findOrInsert({ id: idOf(scope), logId })).logId;
  }

  async rename(scope: Scope, { from, to }: { from: string; to: string }): Promise<void> {
    await this.names.update({ id: idOf(scope), logId: from }, { logId: to });
  }

  retire(scope: Scope, logId: string): Promise<void> {
    return this.names.remove({ id: idOf(scope), logId });
  }

  async scopeOf(logId: string): Promise<Scope | undefined> {
    const found = await this.names.findBy("logId", logId);
    return found && scopeIn(found.id);
  }

  async list({ after, limit, ...which }: Listed): Promise<Named[]> {
    const { accountId, prefix = "", onLost = unreadable } = which;
    const beginning = accountId && idOf({ accountId, namespace: prefix });
    const found = await this.names.list({ limit, after: after && idOf(after), prefix: beginning });
    const named: Named[] = [];
    for (const name of found) {
      if ("lost" in name) onLost(scopeIn(name.id));
      else named.push({ scope: scopeIn(name.id), logId: name.logId });
    }
    const last = found.at(-1);
    if (last === undefined || found.length < limit || named.length === limit) return named;
    // Those in the place of damaged ones.
    const more = await this.list({ ...which, after: scopeIn(last.id), limit: limit - named.length });
    return [...named, ...more];
  }
}

/** The use of a namespace, whose id this is as well. */
export interface UseRecord {
  readonly id: string;
  readonly usedAtMs: number;
}

export class StoredRecent implements Recent {
  constructor(private readonly uses: Records<UseRecord>) {}

  async touch(scope: Scope, usedAtMs: number): Promise<void> {
    const id = idOf(scope);
    if (!(await this.uses.update({ id }, { usedAtMs }))) await this.uses.findOrInsert({ id, usedAtMs });
  }

  async list(limit: number): Promise<Scope[]> {
    return (await this.uses.greatest("usedAtMs", limit)).map(({ id }) => scopeIn(id));
  }

  forget(scope: Scope): Promise<void> {
    return this.uses.remove({ id: idOf(scope) });
  }
}

function unreadable(scope: Scope): never {
  throw unavailable("the database could not be read", lostName(scope));
}

/** Makes a namespace's id: `<account>:<namespace>`; account ids have no colon. */
function idOf({ accountId, namespace }: Scope): string {
  return `${accountId}:${namespace}`;
}

function scopeIn(id: string): Scope {
  const colon = id.indexOf(":");
  return { accountId: id.slice(0, colon), namespace: id.slice(colon + 1) };
}
