import { invalid, MemoryError } from "../../errors.js";
import type { Filter } from "../ports/condition.js";
import { baseOf } from "../ports/model-version.js";
import type { Scope } from "../ports/names.js";
import { authorizeFree } from "../requests/authorize.js";
import { parseRemoved, without } from "../requests/filter-path.js";
import { handleSecrets } from "../requests/handle-secrets.js";
import { IDS_MAX, newMemoryId } from "../requests/id.js";
import { canonicalMetadata, type JsonObject, parseMetadata } from "../requests/metadata.js";
import { scopeOf } from "../requests/namespace.js";
import { badToken, digestOf, pageToken, parsePageToken, parsePlace } from "../requests/page.js";
import { merged } from "../requests/update-mask.js";
import { etagOf, noSuchMemory } from "../versions/current-version.js";
import { findMemories, type Shown } from "../versions/fetch.js";
import { changeSome } from "./change-some.js";
import { type DryRun, dryRun, parseTargets, readMatching, selectIn, type Targets } from "./matching.js";
import type { ChangingRequest, ErasingPorts, NamespaceRequest, Ports } from "./ports.js";
import { updateItem, versionBytes } from "./update.js";
import { writeItems } from "./write.js";

/** Memories that one call changes or fails to change at most. */
const UPDATED_MAX = IDS_MAX;
/** Versions appended at a time: they share writes. */
const WRITING_MAX = 8;
/** Codes of errors that are about one memory, and not about the call. */
const OWN_CODES = ["invalid_argument", "not_found", "failed_precondition"];

export interface UpdateMemoriesRequest extends Omit<ChangingRequest, "includeSuperseded"> {
  /** JSON merge patch of the metadata of each. */
  readonly metadata?: JsonObject | undefined;
  /** Paths removed from the metadata of each, before the patch is applied. */
  readonly remove: readonly string[];
  /** Empty begins. */
  readonly pageToken: string;
  /** Called before each version with about as many bytes as it writes. What it throws ends the writing. */
  readonly onFreeWrite?: ((bytes: number) => void) | undefined;
}

export interface UpdatedMemories {
  readonly updated: number;
  /** Number of memories that had this metadata already. */
  readonly unchanged: number;
  readonly failed: readonly Failed[];
  /** Empty if nothing is left. */
  readonly nextPageToken: string;
  /** Matches of a filter, and some of them as they would be, the oldest; only of a dry run. */
  readonly dry?: DryRun | undefined;
}

const NOTHING: UpdatedMemories = { updated: 0, unchanged: 0, failed: [], nextPageToken: "" };

interface Failed {
  readonly id: string;
  readonly error: MemoryError;
}

type Change = (old: JsonObject) => JsonObject;

interface Wanted extends Targets {
  readonly change: Change;
  /** The request without its page token: a token continues no other one. */
  readonly asked: string;
}

interface Updating extends Wanted, Pick<UpdateMemoriesRequest, "caller" | "signal" | "onFreeWrite"> {
  readonly scope: Scope;
  readonly logId: string;
  /** Number of the entry, or place among the ids, to begin with, from 1 on. */
  readonly place: number;
}

/**
 * Changes the metadata of several memories, by their ids or by a filter, each like `updateMemory`; texts and
 * vectors stay. A memory whose metadata is so already is not written: to repeat a call that broke off changes
 * nothing twice, and pages end although each change makes a new entry that the filter matches. Costs nothing.
 *
 * @throws MemoryError `invalid_argument`, `unauthenticated`, `permission_denied`, `resource_exhausted` if the
 * key's rate allows not even the first change, or `unavailable`; after the latter, some may be changed already.
 */
export async function updateMemories(
  ports: ErasingPorts & Pick<Ports, "onSecret">,
  { caller, signal, onFreeWrite, ...request }: UpdateMemoriesRequest,
): Promise<UpdatedMemories> {
  const scope = scopeOf({ caller, ...request });
  const wanted = parse(request, ports);
  const token = parsePageToken(request.pageToken, ["updates", 3]);
  await authorizeFree(ports.quota, caller, { writes: true, namespace: scope.namespace });
  const { filter } = wanted;
  if (request.dryRun === true && filter !== undefined) {
    const { matched, samples } = await dryRun(ports, scope, { filter, includeSuperseded: false, signal });
    const changed = samples.map((each) => ({ ...each, metadata: changedBy(wanted, each) }));
    return { ...NOTHING, dry: { matched, samples: changed } };
  }
  const logId = await ports.names.find(scope);
  if (logId === undefined) {
    if (token !== undefined) throw badToken();
    const failed = wanted.ids.map((id) => ({ id, error: noSuchMemory() }));
    return { ...NOTHING, failed };
  }
  const place = token === undefined ? 1 : placeIn(logId, wanted, token);
  const updating = new Update(ports, { ...wanted, caller, scope, logId, place, signal, onFreeWrite });
  return updating.run();
}

function parse(
  request: Omit<UpdateMemoriesRequest, keyof NamespaceRequest>,
  { onSecret = "store" }: Pick<Ports, "onSecret">,
): Wanted {
  const { metadata = {}, remove } = request;
  // Alone it must keep the bounds, so that it is refused before anything is read.
  parseMetadata(metadata);
  const patch = handleSecrets({ metadata }, onSecret).metadata ?? {};
  const removed = parseRemoved(remove);
  if (Object.keys(patch).length === 0 && removed.length === 0) {
    throw invalid("metadata", "is missing, and so is remove: there is nothing to update");
  }
  const change: Change = (old) => merged(without(old, removed), patch);
  const targets = parseTargets(request);
  const parts = [canonicalMetadata(JSON.stringify(patch)), remove, targets.filter?.key ?? targets.ids];
  return { ...targets, change, asked: JSON.stringify(parts) };
}

function changedBy({ change }: Pick<Wanted, "change">, { metadata }: Shown): string {
  return JSON.stringify(change(JSON.parse(metadata) as JsonObject));
}

function placeIn(logId: string, { asked }: Wanted, [base, place, digest]: string[]): number {
  if (base !== baseOf(logId) || digest !== digestOf(asked)) throw badToken();
  return parsePlace(place);
}

/** One call's work on the memories that are meant. */
class Update {
  #updated = 0;
  #unchanged = 0;
  readonly #failed: Failed[] = [];
  /** True if another has changed a memory meanwhile: its new version comes later in the log. */
  #missed = false;
  /** What the key's rate refused. */
  #refused: unknown;

  constructor(
    private readonly ports: ErasingPorts,
    private readonly request: Updating,
  ) {}

  async run(): Promise<UpdatedMemories> {
    const { logId, asked } = this.request;
    const next = await (this.request.filter === undefined
      ? this.#runIds()
      : this.#runFilter(this.request.filter));
    if (this.#refused !== undefined && this.#updated === 0) throw this.#refused;
    const nextPageToken =
      next === undefined ? "" : pageToken(["updates", baseOf(logId), String(next), digestOf(asked)]);
    return {
      updated: this.#updated,
      unchanged: this.#unchanged,
      failed: this.#failed,
      nextPageToken,
    };
  }

  /** Returns the place of the first id that is left, counted from 1. */
  async #runIds(): Promise<number | undefined> {
    const { ids, place, logId } = this.request;
    const read = async (some: readonly string[]) => {
      const found = await findMemories(this.ports, { logId, ids: some, what: "text" });
      for (const id of some) if (!found.has(id)) this.#failed.push({ id, error: noSuchMemory() });
      return [...found.values()];
    };
    const left = await this.#updateAll(ids.slice(place - 1), read);
    return left === 0 ? undefined : ids.length - left + 1;
  }

  /** Returns the number of the first match that is left. */
  async #runFilter(filter: Filter): Promise<number | undefined> {
    const { scope, signal, place } = this.request;
    const matching = await selectIn(this.ports, scope, { filter, includeSuperseded: false, signal });
    if (matching === undefined) return undefined;
    const { logId, selection } = matching;
    const sequences = selection.between(place, Number.MAX_SAFE_INTEGER);
    const read = async (some: readonly number[]) => {
      const found = await readMatching(this.ports, { logId, sequences: some, filter });
      // Since the search, another may have made a version of it that matches, too.
      if (found.length < some.length) this.#missed = true;
      return found.map(({ entry }) => entry);
    };
    const left = await this.#updateAll([...sequences], read);
    if (left > 0) return sequences[sequences.length - left];
    return this.#missed ? (sequences.at(-1) ?? 0) + 1 : undefined;
  }

  /** Returns how many are left. Those of them that were changed are found unchanged by the next call. */
  #updateAll<T>(targets: readonly T[], read: (some: readonly T[]) => Promise<Shown[]>): Promise<number> {
    return changeSome(this.ports.clock, {
      targets,
      atOnce: WRITING_MAX,
      signal: this.request.signal,
      read,
      change: async (memory) => {
        await this.#update(memory);
        return this.#refused === undefined;
      },
      room: () => UPDATED_MAX - this.#updated - this.#failed.length,
    });
  }

  async #update(memory: Shown): Promise<void> {
    const { caller, scope, change, asked, filter, onFreeWrite } = this.request;
    const { id } = memory;
    const before = canonicalMetadata(memory.metadata);
    const after = changedBy({ change }, memory);
    if (canonicalMetadata(after) === before) {
      this.#unchanged += 1;
      return;
    }
    try {
      onFreeWrite?.(versionBytes(memory, after));
    } catch (error) {
      this.#refused ??= error;
      return;
    }
    // Another version may not match the filter any more.
    const etag = filter === undefined ? undefined : etagOf(memory);
    const wanted = { text: undefined, expiresAtMs: undefined, metadata: change, asked };
    try {
      const item = updateItem(this.ports, { opId: newMemoryId(), scope, id, etag, wanted });
      await writeItems(this.ports, { caller, scope, items: [item], creates: false });
      this.#updated += 1;
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      if (filter !== undefined && error.code !== "invalid_argument") {
        if (error.code === "aborted") this.#missed = true;
        else if (!OWN_CODES.includes(error.code)) throw error;
      } else if (OWN_CODES.includes(error.code)) this.#failed.push({ id, error });
      else throw error;
    }
  }
}
