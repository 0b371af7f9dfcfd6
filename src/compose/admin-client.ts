import { FREE } from "../accounts/plan.js";
import { type OperatorPorts, operate } from "../admin/operations.js";
import { systemClock } from "../concurrency/clock.js";
import type { Config } from "../config/config.js";
import { readPlans } from "../config/plans.js";
import { isUnavailable, unavailable } from "../errors.js";
import { makeFolder } from "../make-folder.js";
import { dropAll } from "../memory/erasure/drop.js";
import type { ErasurePorts } from "../memory/erasure/erase.js";
import { indexStatus } from "../memory/log/index-status.js";
import { Namespaces } from "../memory/log/namespaces.js";
import { ModelVersions } from "../memory/models/model-versions.js";
import { Pins } from "../memory/models/pin.js";
import type { Scope } from "../memory/ports/names.js";
import { expectLocal } from "../storage/local/open.js";
import { type Answering, askOwner, claim } from "../storage/local/owner/owner.js";
import { openIndexFiles, openStorage } from "./storage.js";

/** Access of the operator's commands to the database that the settings name. */
export interface AdminClient {
  readonly ask: Answering;
  close(): Promise<void>;
}

/**
 * Opens the operator's access to the database. Over MongoDB the commands work on it themselves, except for those about
 * index files: these are in `DATA_DIR`, as the embedded database is, and that has one owner. If it is a server, it is
 * asked; otherwise the command is the owner for as long as a request takes.
 *
 * @throws MemoryError `failed_precondition` when there is no database, unless the command is to make one.
 */
export async function openAdminClient(
  config: Config,
  { creates }: { creates: boolean },
): Promise<AdminClient> {
  const { mongodbUri, dataDir } = config;
  if (mongodbUri === undefined && !creates) await expectLocal(dataDir);
  const here = mongodbUri === undefined ? undefined : await openHere(config, { creates });
  const openAsOwner = async (): Promise<AdminClient> => {
    // The embedded database owns its folder by itself.
    if (here === undefined) return openHere(config, { creates });
    makeFolder(dataDir);
    return { ask: here.ask, close: await claim({ dataDir }) };
  };
  const askTheOwner: Answering = async (request) => {
    const answered = await askOwner(dataDir, request);
    if (answered !== undefined) return answered.result;
    const opened = await openAsOwner().catch(async (error) => {
      // A server that became the owner meanwhile answers.
      const late = await askOwner(dataDir, request);
      if (late === undefined) throw error;
      return { ask: async () => late.result, close: async () => {} };
    });
    return opened.ask(request).finally(() => opened.close());
  };
  if (here === undefined) return { ask: askTheOwner, close: async () => {} };
  const isAboutFiles = ({ operation }: Parameters<Answering>[0]) => operation.startsWith("index ");
  return { ...here, ask: (request) => (isAboutFiles(request) ? askTheOwner(request) : here.ask(request)) };
}

async function openHere(config: Config, { creates }: { creates: boolean }): Promise<AdminClient> {
  const plans = await readPlans(config);
  const storage = await openStorage(config, { creates });
  /** Runs work on namespaces and index files, where no service uses them and no model is loaded. */
  const withNamespaces = async <T>(work: (memory: ErasurePorts) => Promise<T>): Promise<T> => {
    const { log, names, secondaryIndexes, erasures, systemRecords, calls } = storage;
    const pins = new Pins(await systemRecords.models());
    const clock = systemClock;
    // If maintenance fails here, the next server tries it again, and reports it.
    const onTrouble = () => {};
    const openModel = () => Promise.reject(unavailable("the operator's commands load no model"));
    const modelVersions = new ModelVersions(pins, undefined, { systemRecords, clock, openModel, onTrouble });
    const { indexes, closeThreads } = openIndexFiles(config, {
      dimensionsOf: (logId) => modelVersions.pins.dimensionsOf(logId),
      onTrouble,
    });
    const { indexMemoryBytesMax } = config;
    const common = { log, names, secondaryIndexes, erasures, modelVersions, clock, indexes };
    const namespaces = new Namespaces({ ...common, indexMemoryBytesMax, onTrouble });
    try {
      const eraseCalls = (scope: Scope, untilMs: number) => calls.erase({ ...scope, untilMs });
      return await work({ ...common, namespaces, eraseCalls });
    } finally {
      await namespaces.close();
      await closeThreads();
    }
  };
  const ports: OperatorPorts = {
    ...storage,
    plans,
    freeCalls: plans.get(FREE).calls,
    eraseMemories: (accountId) => withNamespaces((memory) => dropAll(memory, accountId)),
    indexStatus: (page) => withNamespaces((memory) => indexStatus(memory, page)),
    eraseIndex: (scope) => withNamespaces(({ namespaces }) => namespaces.eraseIndex(scope)),
  };
  const ask: Answering = async (request) => {
    try {
      return await operate(ports, request);
    } catch (error) {
      // A command that asks for hours goes on after an outage: this connects anew if the driver does not.
      if (isUnavailable(error)) await storage.check().catch(() => {});
      throw error;
    }
  };
  return { ask, close: () => storage.close() };
}
