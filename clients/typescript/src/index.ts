export type { Answer, Answered } from "./call.js";
export { Recalld } from "./client.js";
export type { Clock } from "./clock.js";
export type * from "./contract.js";
export { type ErrorCode, type ErrorFacts, RecalldError } from "./errors.js";
export type { Export, ExportedMemory } from "./export.js";
export type { CallOptions, Fetch, RecalldOptions } from "./options.js";
export type { Pages } from "./pages.js";
export type { WatchEvent, WatchOptions } from "./watch.js";
