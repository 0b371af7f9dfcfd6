/**
 * A text that the model reads for far longer than an impatient caller waits: the call is charged, fails with
 * `deadline_exceeded` and is refunded.
 */
export const LONG_READ = Array.from({ length: 6_000 }, (_, i) => `word${(i * i) % 977}`).join(" ");

/** Headers of a caller who waits 30 ms, for both protocols. */
export const IMPATIENT = { "connect-timeout-ms": "30", "grpc-timeout": "30m" };
