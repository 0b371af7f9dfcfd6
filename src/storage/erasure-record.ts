import type { Erasure } from "../memory/ports/erasures.js";

/** An erasure as databases keep it. Their field for a log's id is `incarnation`, an older word for it. */
export interface ErasureRecord extends Omit<Erasure, "logId"> {
  readonly incarnation?: string;
}

export function toErasureRecord({ logId, ...erasure }: Erasure): ErasureRecord {
  return { ...(logId !== undefined && { incarnation: logId }), ...erasure };
}

export function fromErasureRecord({ incarnation, ...erasure }: ErasureRecord): Erasure {
  return { ...(incarnation !== undefined && { logId: incarnation }), ...erasure };
}
