import { accountsContract } from "./accounts.js";
import { callsContract } from "./calls.js";
import { claimsContract } from "./claims.js";
import { erasingContract } from "./erasing.js";
import { erasuresContract } from "./erasures.js";
import { formatsContract } from "./formats.js";
import { grantsContract } from "./grants.js";
import { historiesContract } from "./histories.js";
import { keysContract } from "./keys.js";
import { logContract } from "./log.js";
import { measureContract } from "./measure.js";
import { namesContract } from "./names.js";
import { secondaryIndexesContract } from "./secondary-indexes.js";
import { sessionsContract } from "./sessions.js";
import { slicesContract } from "./slices.js";
import { systemRecordsContract } from "./system-records.js";
import { usageContract } from "./usage.js";
import { versionsContract } from "./versions.js";

/** Every suite that an adapter of storage passes. */
export const CONTRACTS = [
  logContract,
  namesContract,
  secondaryIndexesContract,
  erasingContract,
  historiesContract,
  versionsContract,
  measureContract,
  accountsContract,
  keysContract,
  grantsContract,
  sessionsContract,
  slicesContract,
  usageContract,
  callsContract,
  systemRecordsContract,
  formatsContract,
  claimsContract,
  erasuresContract,
];
