import type { Format, Formats, Marked } from "../../memory/format/format.js";
import { durably, reading } from "./durably.js";
import type { Meta } from "./system-records.js";

/** The database's format mark, in LMDB. */
export class LocalFormats implements Formats {
  constructor(private readonly meta: Meta) {}

  async read(): Promise<Marked | undefined> {
    return reading(() => this.#get());
  }

  mark(format: Format): Promise<Marked> {
    return durably(this.meta, () => this.#get() ?? this.#put({ format, revision: 1 }));
  }

  replace({ from, to }: Parameters<Formats["replace"]>[0]): Promise<boolean> {
    return durably(this.meta, () => {
      if (this.#get()?.revision !== from) return false;
      this.#put({ format: to, revision: from + 1 });
      return true;
    });
  }

  #get(): Marked | undefined {
    return this.meta.get("format") as Marked | undefined;
  }

  #put(marked: Marked): Marked {
    this.meta.putSync("format", marked);
    return marked;
  }
}
