import { TimeSlice } from "../../concurrency/time-slices.js";
import { invalid, MemoryError } from "../../errors.js";
import { parseJson } from "../../parse-json.js";
import type { Filter } from "../ports/condition.js";
import { baseOf } from "../ports/model-version.js";
import type { Scope } from "../ports/names.js";
import { authorizeFree } from "../requests/authorize.js";
import { parseRemoved, without } from "../requests/filter-path.js";
import { handleSecrets } from "../requests/handle-secrets.js";
import { IDS_MAX } from "../requests/id.js";
import { canonicalMetadata, isSame, type JsonObject, parseMetadata } from "../requests/metadata.js";
import { badToken, digestOf, parsePageToken, parseSequenceCursor, tokenOf } from "../requests/page.js";
import { merged } from "../requests/update-mask.js";
import { etagOf, noSuchMemory, superseded } from "../versions/current-version.js";
import { findInNamespace, type VisibleMemory } from "../versions/fetch.js";
import { changeSome } from "./change-some.js";
import { type DryRun, dryRun, parseTargets, readMatching, selectIn } from "./matching.js";
import type { ChangingRequest, Ports } from "./ports.js";
import { updateItem, versionBytes } from "./update.js";
import { write } from "./write.js";

/** Memories that one call changes or fails to change at most. */
const UPDATED_MAX = IDS_MAX;
/** Versions appended at a time: they share writes. */
const WRITING_MAX = 8;
/** Codes of errors that are about one memory, and not about the call. */
const CODES_OF_ONE = ["invalid_argument", "not_found", "failed_precondition"];

/** An update of several memories as the contract has it. */
export interface UpdateMemoriesRequest extends Omit<ChangingRequest, "includeSuperseded"> {
  readonly metadata?: JsonObject | undefined;
  readonly remove: readonly string[];
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

/**
 * Changes the metadata of several memories, by their ids or by a filter, each like `updateMemory`; texts and
 * vectors stay. A memory whose metadata is so already is not written: to repeat a call that broke off changes
 * nothing twice, and pages end although each change makes a new entry that the filter matches. Costs nothing.
 *
 * @throws MemoryError `invalid_argument`, `unauthenticated`, `permission_denied`, `resource_exhausted` if the
 * key's rate allows not even the first change, or `unavailable`; after the latter, some may be changed already.
 */
export async function updateMemories(ports: Ports, request: UpdateMemoriesRequest): Promise<UpdatedMemories> {
  const { signal } = request;
  const wanted = parse(request, ports);
  const token = parsePageToken(request.pageToken, "updates", 3);
  const scope = await authorizeFree(ports, request, { writes: true });
  const { filter, asked } = wanted;
  if (request.dryRun === true && filter !== undefined) {
    const { matched, samples } = await dryRun(ports, scope, { filter, includeSuperseded: false, signal });
    const changed = samples.map((each) => ({
      ...each,
      metadata: JSON.stringify(wanted.change(parsed(each.metadata))),
    }));
    return { ...NOTHING, dry: { matched, samples: changed } };
  }
  const logId = await ports.names.find(scope);
  if (logId === undefined) {
    if (token !== undefined) throw badToken();
    const failed = wanted.ids.map((id) => ({ id, error: noSuchMemory() }));
    return { ...NOTHING, failed };
  }
  const [base, at, digest] = token ?? [baseOf(logId), "1", digestOf(asked)];
  if (base !== baseOf(logId) || digest !== digestOf(asked)) throw badToken();
  const cursor = parseSequenceCursor(at);
  const { next, ...done } = await new Updating(ports, scope, request, wanted).run(cursor);
  const nextPageToken =
    next === undefined ? "" : tokenOf(["updates", baseOf(logId), String(next), digestOf(asked)]);
  return { ...done, nextPageToken };
}

type Wanted = ReturnType<typeof parse>;

function parse(request: UpdateMemoriesRequest, { onSecret = "store" }: Ports) {
  const { metadata = {}, remove } = request;
  // Alone it must keep the bounds, so that it is refused before anything is read.
  parseMetadata(metadata);
  const { metadata: patch } = handleSecrets({ metadata }, onSecret);
  const removed = parseRemoved(remove);
  if (Object.keys(patch).length === 0 && removed.length === 0) {
    throw invalid("metadata", "is missing, and so is remove: there is nothing to update");
  }
  const change = (old: JsonObject) => merged(without(old, removed), patch);
  const targets = parseTargets(request);
  const parts = [canonicalMetadata(JSON.stringify(patch)), remove, targets.filter?.key ?? targets.ids];
  // Without its page token: a token continues no other request.
  return { ...targets, change, asked: JSON.stringify(parts) };
}

function parsed(json: string): JsonObject {
  return parseJson(json) as JsonObject;
}

/** An update of several memories that is under way, from a cursor on. */
class Updating {
  readonly #failed: Failed[] = [];
  #updated = 0;
  #unchanged = 0;
  /** True if another call has changed a memory meanwhile: its new version comes later in the log. */
  #wasOvertaken = false;
  /** The error by which the key's rate refused a change. */
  #refusal: unknown;
  readonly #timeSlice = new TimeSlice();

  constructor(
    private readonly ports: Ports,
    private readonly scope: Scope,
    private readonly request: UpdateMemoriesRequest,
    private readonly wanted: Wanted,
  ) {}

  /**
   * Updates the memories from a cursor on: the number of an entry, or a position among the ids, counted from 1. Returns the
   * cursor of what is left, too.
   */
  async run(from: number): Promise<Omit<UpdatedMemories, "nextPageToken"> & { next: number | undefined }> {
    const { filter } = this.wanted;
    const next = await (filter === undefined ? this.#updateIds(from) : this.#updateMatches(filter, from));
    if (this.#refusal !== undefined && this.#updated === 0) throw this.#refusal;
    return { updated: this.#updated, unchanged: this.#unchanged, failed: this.#failed, next };
  }

  async #updateIds(from: number): Promise<number | undefined> {
    const { ids } = this.wanted;
    const left = await this.#updateAll(ids.slice(from - 1), async (some) => {
      const found = await findInNamespace(this.ports, this.scope, { ids: some, projection: "text" });
      for (const id of some) if (!found.has(id)) this.#failed.push({ id, error: noSuchMemory() });
      return [...found.values()];
    });
    return left === 0 ? undefined : ids.length - left + 1;
  }

  async #updateMatches(filter: Filter, from: number): Promise<number | undefined> {
    const { signal } = this.request;
    const selecting = { filter, includeSuperseded: false, signal };
    const matching = await selectIn(this.ports, this.scope, selecting);
    if (matching === undefined) return undefined;
    const { logId, selection } = matching;
    const sequences = [...selection.between(from, Number.MAX_SAFE_INTEGER)];
    const left = await this.#updateAll(sequences, async (some) => {
      const found = await readMatching(this.ports, { logId, sequences: some, filter });
      // Since the search, another may have made a version of it that matches, too.
      if (found.length < some.length) this.#wasOvertaken = true;
      return found.map(({ entry }) => entry);
    });
    if (left > 0) return sequences[sequences.length - left];
    return this.#wasOvertaken ? (sequences.at(-1) ?? 0) + 1 : undefined;
  }

  /** Returns how many are left. Those of them that were changed are found unchanged by the next call. */
  #updateAll<T>(
    targets: readonly T[],
    read: (some: readonly T[]) => Promise<readonly VisibleMemory[]>,
  ): Promise<number> {
    return changeSome(this.ports.clock, {
      targets,
      concurrency: WRITING_MAX,
      signal: this.request.signal,
      read,
      change: async (memory) => {
        await this.#update(memory);
        return this.#refusal === undefined;
      },
      left: () => UPDATED_MAX - this.#updated - this.#failed.length,
    });
  }

  async #update(memory: VisibleMemory): Promise<void> {
    const { id, supersededBy } = memory;
    const { filter, change } = this.wanted;
    // Also if it has this metadata already, and would not be written.
    if (filter === undefined && supersededBy !== undefined) {
      this.#failed.push({ id, error: superseded(supersededBy) });
      return;
    }
    // Metadata of thousands of keys takes milliseconds, and memories that stay unchanged would follow without a pause.
    await this.#timeSlice.endIfOver();
    const before = parsed(memory.metadata);
    const changed = change(before);
    if (isSame(changed, before)) {
      this.#unchanged++;
      return;
    }
    try {
      const after = parseMetadata(changed);
      if (!this.#mayWrite(versionBytes(memory, after))) return;
      await this.#write(memory, after);
      this.#updated++;
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      if (filter !== undefined && error.code === "aborted") this.#wasOvertaken = true;
      else if (!CODES_OF_ONE.includes(error.code)) throw error;
      // Found by a filter, it may be gone by now, which is no failure.
      else if (filter === undefined || error.code === "invalid_argument") this.#failed.push({ id, error });
    }
  }

  /** Asks the key's rate for as many bytes. */
  #mayWrite(bytes: number): boolean {
    try {
      this.request.onFreeWrite?.(bytes);
      return true;
    } catch (error) {
      this.#refusal ??= error;
      return false;
    }
  }

  async #write(memory: VisibleMemory, after: string): Promise<void> {
    const { ports, scope } = this;
    const { filter, change, asked } = this.wanted;
    // With a filter, only the version that was read: another may not match any more.
    const target = { id: memory.id, etag: filter && etagOf(memory) };
    // The version before is the one that was read, unless another has changed it meanwhile.
    const metadata = (old: string) => (old === memory.metadata ? after : parseMetadata(change(parsed(old))));
    const wanted = { metadata, asked };
    await write(ports, {
      request: { caller: this.request.caller },
      scope,
      creates: false,
      itemsFor: (opId) => [updateItem(ports, { opId, scope, memory: target, wanted })],
    });
  }
}
