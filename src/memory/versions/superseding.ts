import type { DomainPorts } from "../ports/ports.js";
import type { SupersedingOrExpiring } from "../ports/secondary-indexes.js";

/** Numbers listed at a time. */
const LIST_MANY = 1_000;

/** Lists the numbers up to one that supersede memories, or that expire and are not erased, in order, some at a time. */
export async function* supersedingAndExpiring(
  { secondaryIndexes, clock }: Pick<DomainPorts, "secondaryIndexes" | "clock">,
  logId: string,
  upto = Number.POSITIVE_INFINITY,
): AsyncGenerator<SupersedingOrExpiring[]> {
  for (let from = 1; from <= upto; ) {
    const some = await secondaryIndexes.listSupersedingAndExpiring({ logId, from, limit: LIST_MANY });
    yield some.filter(({ sequence }) => sequence <= upto);
    const last = some.at(-1);
    if (last === undefined || some.length < LIST_MANY) return;
    from = last.sequence + 1;
    await clock.yield();
  }
}
