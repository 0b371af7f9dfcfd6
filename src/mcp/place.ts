/** Server that a program calls, and the key that it shows there. */
export interface Place {
  readonly url: string;
  readonly key: string | undefined;
}

/** Finds the server to call; called again when the one that it found last does not answer. */
export type FindPlace = () => Promise<Place>;
