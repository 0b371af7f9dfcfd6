import { FREE } from "../accounts/plan.js";
import type { Config } from "../config/config.js";
import { readPlans } from "../config/plans.js";
import { unavailable } from "../errors.js";
import { dropAll } from "../memory/erasure/drop.js";
import { parseExpiry } from "../memory/input/expiry.js";
import { parseNamespace } from "../memory/input/namespace.js";
import { Namespaces } from "../memory/log/namespaces.js";
import { Generations } from "../memory/models/generations.js";
import { Pins } from "../memory/models/pin.js";
import { systemClock } from "../memory/pacing/clock.js";
import type { Scope } from "../memory/ports/log.js";
import { operate } from "../operator/operations.js";
import { expectLocal } from "../storage/local/open.js";
import { type Answering, askOwner } from "../storage/local/owner/owner.js";
import type { Storage } from "../storage/storage.js";
import { openIndexFiles, openStorage, openVectors } from "./storage.js";

/** Access of the operator's commands to the database that the settings name. */
export interface AdminClient {
  readonly ask: Answering;
  close(): Promise<void>;
}

/**
 * Opens the operator's access to the database. Over MongoDB the commands work on it themselves. The embedded
 * database has one owner: if that is a server, it is asked; otherwise the command is the owner for as long as
 * a request takes.
 *
 * @throws MemoryError `failed_precondition` when there is no database, unless the command is to make one.
 */
export async function openAdminClient(
  config: Config,
  { creates }: { creates: boolean },
): Promise<AdminClient> {
  const { mongodbUri, dataDir } = config;
  if (mongodbUri !== undefined) return openHere(config, { creates });
  if (!creates) await expectLocal({ dataDir });
  const ask: Answering = async (request) => {
    const answered = await askOwner(dataDir, request);
    if (answered !== undefined) return answered.result;
    const opened = await openHere(config, { creates }).catch(async (error) => {
      // A server that became the owner meanwhile answers.
      const late = await askOwner(dataDir, request);
      if (late === undefined) throw error;
      return { ask: async () => late.result, close: async () => {} };
    });
    return opened.ask(request).finally(() => opened.close());
  };
  return { ask, close: async () => {} };
}

async function openHere(config: Config, { creates }: { creates: boolean }): Promise<AdminClient> {
  const plans = await readPlans(config);
  const storage = await openStorage(config, { creates });
  const eraseMemories = (accountId: string) => eraseUnopened(config, { storage, accountId });
  const freeCalls = plans.get(FREE).calls;
  const ports = { ...storage, plans, parseNamespace, parseExpiry, eraseMemories, freeCalls };
  return { ask: async (request) => operate(ports, request), close: () => storage.close() };
}

/** Erases an account's memories where no service has their namespaces open, and no model is loaded. */
async function eraseUnopened(
  config: Config,
  { storage, accountId }: { storage: Storage; accountId: string },
): Promise<number> {
  const { log, erasures, recent, calls, systemRecords } = storage;
  const pins = new Pins(await systemRecords.models());
  if (pins.all.length === 0) return 0;
  const clock = systemClock;
  // What maintenance fails at here, the next server does again.
  const onTrouble = () => {};
  const openModel = () => Promise.reject(unavailable("the operator's commands load no model"));
  const generations = new Generations(pins, undefined, { systemRecords, clock, openModel, onTrouble });
  const vectors = openVectors(config, { dimensionsOf: (logId) => generations.pins.dimensionsOf(logId) });
  const indexes = openIndexFiles(config, { onTrouble });
  const { indexMemoryBytesMax } = config;
  const common = { log, erasures, generations, clock, vectors, indexes };
  const namespaces = new Namespaces({ ...common, recent, indexMemoryBytesMax, onTrouble });
  try {
    const eraseCalls = (scope: Scope, untilMs: number) => calls.erase({ ...scope, untilMs });
    return await dropAll({ ...common, namespaces, eraseCalls }, accountId);
  } finally {
    await namespaces.close();
    await vectors.close();
  }
}
