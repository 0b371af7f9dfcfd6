import { MemoryError } from "../../errors.js";
import type { Caller } from "../ports/quota.js";

export interface MemoryRequest {
  readonly caller: Caller;
  readonly namespace: string;
  readonly id: string;
}

export function noSuchMemory(): MemoryError {
  return new MemoryError("not_found", "this namespace has no memory with this id");
}
