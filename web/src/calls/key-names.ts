import { useQuery } from "@connectrpc/connect-query";
import { accounts } from "../api";
import { useRights } from "../session/rights";

/** Characters of an id that tell keys apart which this key may not list. */
const SUFFIX_CHARS = 6;

export interface KeyNames {
  /** Ids of the keys that this tab's key may know. */
  readonly ids: readonly string[];
  nameOf(keyId: string): string;
}

/** Names keys by their ids, as far as this tab's key may know their names. */
export function useKeyNames(): KeyNames {
  const { key: own, manages } = useRights();
  const { data } = useQuery(accounts.listKeys, {}, { enabled: manages, staleTime: 0 });
  const keys = data?.keys ?? (own ? [own] : []);
  const names = new Map(
    keys.map(({ id, name, prefix }) => {
      // A key that takes the place of another has its name.
      const isShared = keys.some((other) => other.id !== id && other.name === name);
      return [id, !name ? `${prefix}…` : isShared ? `${name} (${prefix}…)` : name];
    }),
  );
  return {
    ids: [...names.keys()],
    nameOf(keyId) {
      if (keyId === "") return "a key that is gone";
      return names.get(keyId) ?? `another key (…${keyId.slice(-SUFFIX_CHARS)})`;
    },
  };
}
