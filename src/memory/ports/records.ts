/** Fields of records; undefined stands for none. */
export type Where<R> = { readonly [F in keyof R]?: R[F] | undefined };

/** A damaged record. */
export interface Lost {
  readonly id: string;
  readonly lost: true;
}

/** Records of one kind by their ids, as a database keeps them. Each method is one atomic step. */
export interface Records<R extends { readonly id: string }> {
  find(id: string): Promise<R | undefined>;
  /** Finds the record that has a value in the field that has an index. */
  findBy(field: keyof R & string, value: string): Promise<R | undefined>;
  /** Finds the record with an id, unless it has expired by a time, or inserts one. What it returns survives a crash. */
  findOrInsert(record: R, nowMs?: number): Promise<R>;
  /** Sets fields of a record, if it has others as stated; true if it did. */
  update(where: Where<R> & Pick<R, "id">, set: Partial<R>): Promise<boolean>;
  /** Removes the record with an id, or all, if they have other fields as stated. */
  remove(where: Where<R>): Promise<void>;
  /** Lists records in the order of their ids' bytes, from behind one on: all, or those whose ids begin with `prefix`. */
  list(range: {
    limit: number;
    after?: string | undefined;
    prefix?: string | undefined;
  }): Promise<(R | Lost)[]>;
  /** Lists the records with the greatest numbers in a field, the greatest first, and those without one last. */
  greatest(field: keyof R & string, limit: number): Promise<R[]>;
}
