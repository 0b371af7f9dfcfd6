import type { Answer } from "./call.js";
import { RecalldError } from "./errors.js";

/** One page of a list. */
interface Page {
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** A list that is read page by page, while it is iterated over. */
export class Pages<T, P extends Page> implements AsyncIterable<T> {
  readonly #read: (pageToken: string) => Promise<Answer<P>>;
  readonly #itemsOf: (page: P) => readonly T[];

  constructor(read: (pageToken: string) => Promise<Answer<P>>, itemsOf: (page: P) => readonly T[]) {
    this.#read = read;
    this.#itemsOf = itemsOf;
  }

  /** Gives the pages themselves, each with its request id. */
  async *pages(): AsyncGenerator<Answer<P>, void, undefined> {
    for (let token = ""; ; ) {
      const page = await this.#read(token);
      yield page;
      if (page.nextPageToken === "") return;
      if (page.nextPageToken === token) throw new RecalldError("internal", "the list does not go on");
      token = page.nextPageToken;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* this.#itemsOf(page);
  }
}
