import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { count, failedPrecondition, isUnavailable } from "../../errors.js";
import { allNames } from "../log/walk.js";
import { describe, isSame, Pins } from "../models/pin.js";
import type { ModelIdentity } from "../ports/embedder.js";
import { isEnd, type Log } from "../ports/log.js";
import {
  inModelVersion,
  type ModelVersion,
  modelVersionOf,
  type Pinned,
  type SystemRecords,
} from "../ports/model-version.js";
import { lostName, type Named, type Names } from "../ports/names.js";
import { staleCopiesOf } from "./move.js";

/** Shortest pause between two reads of the progress, and the pause as a multiple of the time of a read. */
const PAUSE_MS = 500;
const PAUSE_TIMES = 10;
/** Maximum number of namespaces to be moved that a status names. */
const NAMED_MAX = 10;
/** Maximum number of times that a database is pinned to a model. */
const PINS_MAX = 1_000;

interface StatusPorts {
  readonly systemRecords: Pick<SystemRecords, "models">;
  readonly log: Pick<Log, "last">;
  readonly names: Pick<Names, "list">;
}

/**
 * Pins a database to a model; the services that use it move its namespaces there. Returns the model version, also if it
 * is pinned to that model already.
 *
 * @param after the model version that the database must still be pinned to; any when left out
 * @throws MemoryError `failed_precondition` if the database has no model yet, or is pinned to another one.
 */
export async function pin(
  { systemRecords }: { readonly systemRecords: SystemRecords },
  model: ModelIdentity,
  after?: ModelVersion,
): Promise<ModelVersion> {
  const models = await systemRecords.models();
  const present = models.at(-1);
  if (present === undefined)
    throw failedPrecondition(`the database holds nothing yet: start the service with MODEL=${model.id}`);
  if (isSame(present.model, model)) return present.modelVersion;
  if (after !== undefined && present.modelVersion !== after)
    throw failedPrecondition(`another command has pinned the database to ${present.model.id} meanwhile`);
  if (models.length >= PINS_MAX)
    throw failedPrecondition(
      `the database has had ${PINS_MAX} models, and can have no more: export and import`,
    );
  const modelVersion = randomBytes(4).toString("hex");
  const isPinned = await systemRecords.pin({ after: present.modelVersion, to: { modelVersion, model } });
  // If another command was quicker, it starts over.
  return isPinned ? modelVersion : pin({ systemRecords }, model, after);
}

/**
 * Gives a change up: the model before is pinned again, and what has moved moves back.
 *
 * @throws MemoryError `failed_precondition` if none is under way.
 */
export async function abandon(
  ports: StatusPorts & { readonly systemRecords: SystemRecords },
): Promise<ModelVersion> {
  const [before, present] = (await ports.systemRecords.models()).slice(-2);
  if (before === undefined || present === undefined || (await readModelStatus(ports)).left === 0)
    throw failedPrecondition("the model is not being changed");
  // If another operator has pinned a third model since, that one is not given up.
  return pin(ports, before.model, present.modelVersion);
}

/** State of a database's models, as its logs say. */
export interface ModelStatus {
  /** Absent while the database is empty. */
  readonly pinned?: Pinned;
  readonly models: readonly Held[];
  /** Number of entries that were copied for namespaces that are still to be moved. */
  readonly copied: number;
  /** Number of namespaces that are still to be moved, or have copies that are still to be erased. */
  readonly left: number;
  /** Some of those namespaces. */
  readonly waiting: readonly Named[];
}

/** Namespaces, and entries of their logs, that have vectors of a model. */
interface Held {
  readonly model: ModelIdentity;
  namespaces: number;
  entries: number;
}

/** Reads the state of a database's models from the log of every namespace, a bounded number of names at a time. */
export async function readModelStatus({ systemRecords, log, names }: StatusPorts): Promise<ModelStatus> {
  const all = await systemRecords.models();
  if (all.length === 0) return { models: [], copied: 0, left: 0, waiting: [] };
  const pins = new Pins(all);
  const models: Held[] = [];
  const waiting: Named[] = [];
  let [copied, left] = [0, 0];
  for await (const named of allNames(names)) {
    if ("lost" in named) throw lostName(named);
    const { logId } = named;
    const last = await log.last(logId);
    const model = pins.modelOf(modelVersionOf(logId));
    if (model !== undefined) {
      const known = models.find((each) => isSame(each.model, model));
      const held = known ?? { model, namespaces: 0, entries: 0 };
      if (known === undefined) models.push(held);
      held.namespaces++;
      held.entries += last?.sequence ?? 0;
    }
    const isThere = pins.isAtPresent(logId) && !(last && isEnd(last.entry));
    if (!isThere) copied += (await log.last(inModelVersion(logId, pins.present.modelVersion)))?.sequence ?? 0;
    if (!isThere || (await staleCopiesOf(log, { pins, logId })).length > 0) {
      left++;
      if (waiting.length < NAMED_MAX) waiting.push(named);
    }
  }
  return { pinned: pins.present, models, copied, left, waiting };
}

/** Formats a status, one line for each model, one in all, and one for each of the namespaces that it names. */
export function linesOf(status: ModelStatus): string[] {
  const { pinned, models, left, waiting } = status;
  if (pinned === undefined) return ["the database is empty"];
  return [
    `the database is pinned to ${describe(pinned.model)}`,
    ...models.map(
      ({ model, namespaces, entries }) =>
        `${count(namespaces)} namespaces with ${count(entries)} entries have vectors of ${describe(model)}`,
    ),
    left === 0 ? "nothing is left to move" : progressOf(status),
    ...waiting.map(
      ({ scope: { accountId, namespace }, logId }) => `${namespace} of ${accountId}, log ${logId}, is left`,
    ),
  ];
}

/** Formats the progress of a change in one line. */
function progressOf({ pinned, models, copied, left }: ModelStatus): string {
  let [namespaces, entries, done] = [0, 0, copied];
  for (const held of models) {
    namespaces += held.namespaces;
    entries += held.entries;
    if (pinned && isSame(held.model, pinned.model)) done += held.entries;
  }
  return (
    `${count(namespaces - left)} of ${count(namespaces)} namespaces have vectors of ${pinned?.model.id}, ` +
    `${count(done)} of ${count(entries)} entries are made`
  );
}

/** Shows the progress of a change until it has ended; returns the status then. */
export async function follow(
  readStatus: () => Promise<ModelStatus>,
  { modelVersion, show }: { modelVersion: ModelVersion; show: (line: string) => void },
): Promise<ModelStatus> {
  for (;;) {
    const beganMs = performance.now();
    // An outage is shown: a service that restarts takes the change up again.
    const status = await readStatus().catch((error) => {
      if (!isUnavailable(error)) throw error;
      show(error.message);
      return undefined;
    });
    if (status !== undefined && (status.left === 0 || status.pinned?.modelVersion !== modelVersion))
      return status;
    if (status !== undefined) show(progressOf(status));
    await sleep(Math.max(PAUSE_MS, PAUSE_TIMES * (performance.now() - beganMs)));
  }
}
