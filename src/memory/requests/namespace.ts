import { expectAtMost, invalid } from "../../errors.js";
import type { Scope } from "../ports/names.js";
import type { Caller } from "../ports/quota.js";
import { checkString } from "./text.js";

export const NAMESPACE_BYTES_MAX = 256;

/** Parses the namespace of a call, in the caller's account. @throws MemoryError as `parseNamespace` */
export function scopeOf({ caller, namespace }: { caller: Caller; namespace: string }): Scope {
  return { accountId: caller.accountId, namespace: parseNamespace(namespace) };
}

/** Maximum number of namespaces that a recall searches beside the first. */
export const ALSO_IN_MAX = 7;

/** Parses the namespaces that a recall searches: the first, and up to 7 others, each once. */
export function scopesOf(
  request: { caller: Caller; namespace: string },
  alsoIn: readonly string[] = [],
): [Scope, ...Scope[]] {
  const { accountId, namespace } = scopeOf(request);
  expectAtMost(ALSO_IN_MAX, "also_in", alsoIn, "namespaces");
  const others = alsoIn.map((name, i): Scope => {
    const field = `also_in[${i}]`;
    if (name === namespace || alsoIn.indexOf(name) < i) throw invalid(field, "is given twice");
    return { accountId, namespace: parseNamespace(name, field) };
  });
  return [{ accountId, namespace }, ...others];
}

/** Parses the beginning of names: up to 256 bytes of UTF-8 that a name can have. Empty means all names. */
export function parsePrefix(value: string, { required = false } = {}): string {
  if (required && value === "") throw invalid("prefix", "is missing; it must have at least one character");
  checkCharacters("prefix", value);
  return value;
}

/** Parses a namespace's name: 1–256 bytes of UTF-8, no control characters, no space at either end. */
export function parseNamespace(value: string, field = "namespace"): string {
  if (value === "") throw invalid(field, "is missing");
  checkCharacters(field, value);
  if (value.trim() !== value) throw invalid(field, "begins or ends with a space");
  return value;
}

/** Expects at most so many bytes of UTF-8, and no control characters. @throws MemoryError `invalid_argument` */
export function checkCharacters(field: string, value: string, bytesMax = NAMESPACE_BYTES_MAX): void {
  checkString(field, value, bytesMax);
  if (/\p{Cc}/u.test(value)) throw invalid(field, "has a control character");
}

export const EXTERNAL_ID_BYTES_MAX = 256;

/** Parses a caller's own id: 1–256 bytes of UTF-8, no control characters; undefined if it is empty. */
export function parseExternalId(value: string): string | undefined {
  if (value === "") return undefined;
  checkCharacters("external_id", value, EXTERNAL_ID_BYTES_MAX);
  return value;
}
