/** Bytes of a filter as JSON. */
export const FILTER_BYTES_MAX = 65_536;
/** Levels of `$and`, `$or` and `$not`, the filter itself included. */
export const FILTER_DEPTH_MAX = 5;
/** Operators that test a field, in the whole filter. */
export const FILTER_CLAUSES_MAX = 200;
/** Values in the list of a `$in` or `$nin`. */
export const FILTER_LIST_MAX = 256;
/** Bytes of a text that a field is compared with, and of a path. */
export const FILTER_STRING_BYTES_MAX = 4_096;
export const FILTER_PATH_BYTES_MAX = 512;
