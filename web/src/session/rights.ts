import { useQuery } from "@connectrpc/connect-query";
import { accounts, type Key, KeyAccess } from "../api";

/** Permissions of the key in use. Pages offer nothing that the server would refuse. */
export interface Rights {
  /** The key without its secret; absent until the server has told it. */
  readonly key: Key | undefined;
  /** Whether it may store, change and delete memories. */
  readonly writes: boolean;
  /** Whether it is known that it may not. */
  readonly readsOnly: boolean;
  /** Whether it may create and revoke keys, and close the account. */
  readonly manages: boolean;
  /** The only namespace that it may use; undefined for all. */
  readonly namespace: string | undefined;
}

/** Permissions before the server has told them: what might be refused is not offered yet. */
const NOT_YET: Rights = {
  key: undefined,
  namespace: undefined,
  writes: false,
  readsOnly: false,
  manages: false,
};
/** Permissions if the server does not tell them: it refuses by itself what the key may not do. */
const UNTOLD: Rights = { ...NOT_YET, writes: true, manages: true };

export function useRights(): Rights {
  const { data, error } = useQuery(accounts.getAccount, {});
  if (data?.key) return rightsOf(data.key);
  return data || error ? UNTOLD : NOT_YET;
}

export function rightsOf(key: Key): Rights {
  const writes = key.access !== KeyAccess.READ_ONLY;
  const namespace = key.namespace === "" ? undefined : key.namespace;
  return { key, writes, readsOnly: !writes, manages: writes && namespace === undefined, namespace };
}
