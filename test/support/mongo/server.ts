/** A MongoDB for tests, or what passes for one. */
export interface TestServer {
  readonly uri: string;
  /** What it is, in words. */
  readonly kind: string;
  stop(): Promise<void>;
}

/** Why there is none. */
export interface Missing {
  readonly reason: string;
}
