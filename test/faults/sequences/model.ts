/** A memory as a simple model has it. */
export interface Modelled {
  text: string;
  readonly externalId?: string | undefined;
  /** True if another memory has superseded it: it is there, and no recall shows it. */
  superseded: boolean;
}

/** Memories that one namespace should hold, by id. */
export class Content {
  readonly memories = new Map<string, Modelled>();

  /** Memories that a recall shows, by id. */
  get visible(): Map<string, string> {
    const visible = [...this.memories].filter(([, { superseded }]) => !superseded);
    return new Map(visible.map(([id, { text }]) => [id, text]));
  }

  currentByExternalId(externalId: string): [id: string, memory: Modelled] | undefined {
    return [...this.memories].find(([, each]) => each.externalId === externalId);
  }
}
