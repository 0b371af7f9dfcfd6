/** Some memories by their log numbers. */
export interface Among {
  readonly size: number;
  has(sequence: number): boolean;
  /** Counts those whose numbers are from `first` to `last`. */
  countBetween(first: number, last: number): number;
  /** Lists those whose numbers are from `first` to `last`, in order. */
  between(first: number, last: number): Float64Array;
}
