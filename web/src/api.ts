import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";

export {
  AccountService,
  type CreateKeyResponse,
  type DayUsage,
  type Key,
  KeyAccess,
} from "../../gen/recalld/v1/account_pb.js";
export {
  type MapPoint,
  type Memory,
  type Namespace,
  RecallRequest_Mode,
  type RecallResult,
} from "../../gen/recalld/v1/memory_pb.js";

export const accounts = AccountService.method;
export const memories = MemoryService.method;

/** Scores above this are strong matches; the contract says so at `RecallResult.score`. */
export const STRONG_MATCH = 0.8;
