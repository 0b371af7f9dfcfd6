/** A MongoDB for tests, or its stand-in. */
export interface TestServer {
  readonly uri: string;
  /** Description in words. */
  readonly kind: string;
  stop(): Promise<void>;
}

/** Reason why there is none. */
export interface Missing {
  readonly reason: string;
}
