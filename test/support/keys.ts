import type { JsonObject } from "@bufbuild/protobuf";
import type { Protocol, RpcName } from "./protocols.js";

export const TIMEOUT_MS = 60_000;
export const KINDS = [
  "full",
  "read-only",
  "mine",
  "other",
  "read-only mine",
  "read-only other",
  "revoked",
] as const;
export type Kind = (typeof KINDS)[number];
export type Keys = Record<Kind, string>;

export const SCOPES: Record<Kind, JsonObject> = {
  full: {},
  "read-only": { access: "KEY_ACCESS_READ_ONLY" },
  mine: { namespace: "mine" },
  other: { namespace: "other" },
  "read-only mine": { access: "KEY_ACCESS_READ_ONLY", namespace: "mine" },
  "read-only other": { access: "KEY_ACCESS_READ_ONLY", namespace: "other" },
  revoked: {},
};

/** Opens an account with a key of each kind. The revoked one was used before. */
export async function openAccount(protocol: Protocol): Promise<{ id: string; keys: Keys }> {
  const { body } = await protocol.call("SignUp", {});
  const full = String(body.api_key);
  const keys = { full } as Keys;
  for (const kind of KINDS.slice(1)) {
    const made = await ok(protocol, "CreateKey", { request: { name: kind, ...SCOPES[kind] }, key: full });
    keys[kind] = String(made.api_key);
    if (kind !== "revoked") continue;
    await ok(protocol, "GetAccount", { key: keys[kind] });
    await ok(protocol, "RevokeKey", { request: { id: (made.key as JsonObject).id as string }, key: full });
  }
  return { id: String(body.account_id), keys };
}

export async function ok(
  protocol: Protocol,
  rpc: RpcName,
  { request = {}, key }: { request?: JsonObject; key: string },
): Promise<JsonObject> {
  const { code, message, body } = await protocol.call(rpc, request, { key });
  if (code !== "ok") throw new Error(`${rpc}: ${code}, ${message}`);
  return body;
}
