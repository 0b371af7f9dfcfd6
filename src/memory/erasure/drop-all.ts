import { drop } from "./drop.js";
import type { ErasurePorts } from "./erase.js";

/** Namespaces listed at a time. */
const LIST_MANY = 100;

/** Drops and erases all namespaces of an account; answers how many memories they held. */
export async function dropAll(ports: ErasurePorts, accountId: string): Promise<number> {
  let dropped = 0;
  for (let after = ""; ; ) {
    const heads = await ports.log.list({ accountId, after, limit: LIST_MANY });
    for (const { namespace } of heads) {
      dropped += (await drop(ports, { accountId, namespace }, { force: true })) ?? 0;
      after = namespace;
    }
    if (heads.length < LIST_MANY) return dropped;
  }
}
