import { codeFromString } from "@connectrpc/connect/protocol-connect";
import { AccountService, type ListRecentCallsRequest } from "../../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../../gen/recalld/v1/memory_pb.js";
import type { CallsFilter } from "../../accounts/calls/calls.js";
import { invalid } from "../../errors.js";
import { parseNamespace } from "../../memory/requests/namespace.js";
import { nameOf } from "./service.js";

/** Names of the contract's methods, whole, by themselves and by their last part. */
const METHODS = new Map<string, string>();
for (const { methods } of [MemoryService, AccountService]) {
  for (const each of methods) METHODS.set(each.name, nameOf(each)).set(nameOf(each), nameOf(each));
}

/** Parses the choice of calls in a request. A mistyped name is refused, for it would choose none. */
export function callsFilterOf({
  errorsOnly,
  method,
  keyId,
  code,
  namespace,
}: Pick<ListRecentCallsRequest, "errorsOnly" | "method" | "keyId" | "code" | "namespace">): CallsFilter {
  if (method !== undefined && !METHODS.has(method)) throw invalid("method", "is no method of this API");
  if (code !== undefined && code !== "ok" && codeFromString(code) === undefined) {
    throw invalid("code", "is neither ok nor the name of an error");
  }
  return {
    errorsOnly,
    keyId,
    code,
    method: method === undefined ? undefined : METHODS.get(method),
    namespace: namespace === undefined ? undefined : parseNamespace(namespace),
  };
}
