/** A memory service that runs on this machine, called as its own documentation says. */
export interface Service {
  readonly name: string;
  readonly version: string;
  /** Path of a call, and how it finds. */
  readonly called: string;
  readonly finds: string;
  /** Stores a text and returns the id under which a recall finds it. */
  store(text: string): Promise<string>;
  /** Returns the ids of what is found, best first. */
  recall(query: string): Promise<string[]>;
  stop(): Promise<void>;
}

/** What a service is opened with. */
export interface Workspace {
  /** Folder of the run, for databases and logs. It is removed at its end. */
  readonly folder: string;
  /** Folder that is kept, for what is installed. */
  readonly cache: string;
  /** Interpreters to choose from. */
  readonly pythons: readonly string[];
  readonly embeddings: Embeddings;
}

/** The model that recalld bundles, for services that take another's vectors. */
export interface Embeddings {
  /** Address of a server with OpenAI's API for embeddings, up to `/embeddings`. */
  readonly url: string;
  embed(text: string, field: "text" | "query"): Promise<readonly number[]>;
  close(): Promise<void>;
}
