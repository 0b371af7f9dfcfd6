/** What is to be closed at the end, or when the start fails, the last one first. */
export type Closers = (() => unknown)[];
