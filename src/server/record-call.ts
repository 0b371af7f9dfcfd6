import type { DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import type { CallRecorder } from "../accounts/calls/record-calls.js";
import { MemoryError } from "../errors.js";
import { parseNamespace } from "../memory/requests/namespace.js";
import type { Call } from "./call.js";
import { INTERNAL_MESSAGE } from "./errors.js";
import { nameOf } from "./rpc/service.js";

/** Calls that are not recorded: a look at the record would fill it, and a closed account has none. */
const NOT_RECORDED = [AccountService.method.listRecentCalls, AccountService.method.closeAccount].map(nameOf);
/** Successful calls whose namespace is not recorded: it was erased. */
const DELETE_NAMESPACE = nameOf(MemoryService.method.deleteNamespace);
const MESSAGE_CHARS_MAX = 300;

/**
 * Records a call that has ended for its account. Not recorded are calls without a living key, and those that
 * a browser makes in its session: they are the portal's.
 */
export function recordCall(
  recorder: Pick<CallRecorder, "note">,
  { id: requestId, method, protocol, principal: caller, message, error }: Call,
  { code, ms }: { readonly code: string; readonly ms: number },
): void {
  if (caller === undefined || caller.sessionHash !== undefined || code === "unauthenticated") return;
  if (code === "ok" && NOT_RECORDED.includes(method)) return;
  const namespace = code === "ok" && method === DELETE_NAMESPACE ? undefined : namespaceIn(message);
  const told = code === "ok" ? undefined : messageOf(error, code);
  const { accountId, keyId } = caller;
  recorder.note(caller, {
    accountId,
    keyId,
    method,
    protocol,
    code,
    ms,
    requestId,
    atMs: Date.now() - ms,
    ...(namespace !== undefined && { namespace }),
    ...(told !== undefined && { message: told }),
  });
}

/** Finds the namespace that a call named, if it is one that can be. */
function namespaceIn(message: Call["message"]): string | undefined {
  const { namespace = "" } = (message ?? {}) as { namespace?: string };
  try {
    return parseNamespace(namespace);
  } catch {
    return undefined;
  }
}

/** Returns an error's message without anything that the request holds; undefined if that is not certain. */
function messageOf(refusal: unknown, code: string): string | undefined {
  if (code === "internal") return INTERNAL_MESSAGE;
  // The service's own: the deadline has passed, or it shuts down.
  if (refusal instanceof ConnectError && OWN_CODES.includes(refusal.code)) return refusal.rawMessage;
  if (!(refusal instanceof MemoryError)) return undefined;
  const { field = "", recorded } = refusal;
  const known = knownPart(field);
  if (known === field) return recorded.slice(0, MESSAGE_CHARS_MAX);
  if (!recorded.startsWith(field)) return undefined;
  return (known + recorded.slice(field.length)).slice(0, MESSAGE_CHARS_MAX);
}

const OWN_CODES = [Code.DeadlineExceeded, Code.Unavailable];

/** Names that a path in an error may have, beside those of the contract's fields. */
const KNOWN = new Set(["body", "path", "query", "Idempotency-Key"]);
for (const { methods } of [MemoryService, AccountService]) for (const { input } of methods) addFields(input);

function addFields({ fields }: DescMessage): void {
  for (const { name, message } of fields) {
    KNOWN.add(name);
    if (message?.file.proto.package === "recalld.v1") addFields(message);
  }
}

/** Shortens a field's path to the names of the contract: what follows are the caller's own words. */
function knownPart(path: string): string {
  const names = path.split(".");
  const known = names.findIndex((name) => !KNOWN.has(name.replace(/\[\d+\]$/, "")));
  return path === "" || known === -1 ? path : [...names.slice(0, known), "…"].join(".");
}
