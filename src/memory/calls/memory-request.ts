import type { Caller } from "../ports/quota.js";

export interface MemoryRequest {
  readonly caller: Caller;
  readonly namespace: string;
  readonly id: string;
}
