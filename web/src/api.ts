import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";

export {
  AccountService,
  type CreateKeyResponse,
  type DayUsage,
  type GetAccountResponse,
  type Key,
  KeyAccess,
  type KeyUsage,
  type Model,
  type NamespaceUsage,
  type RecentCall,
  type Session,
} from "../../gen/recalld/v1/account_pb.js";
export {
  ListMemoriesRequest_Order,
  type Memory,
  type Namespace,
  type RecallRequest,
  RecallRequest_Mode,
  RecallRequestSchema,
  type RecallResponse,
  type RecallResult,
  type StoreBatchResult,
  StoreRequest_OnConflict,
  StoreResponse_Outcome,
} from "../../gen/recalld/v1/memory_pb.js";

export { MemoryService };
export const accounts = AccountService.method;
export const memories = MemoryService.method;
