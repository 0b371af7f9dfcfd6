/** Functions to call at the end, or when the start fails, the last one first. */
export type Closers = (() => unknown)[];
