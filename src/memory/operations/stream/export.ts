import { createHash } from "node:crypto";
import { MemoryError, unavailable } from "../../../errors.js";
import { type LivingLog, livingLogOf, readOn } from "../../log/living-log.js";
import type { Filter } from "../../ports/condition.js";
import { isMemory, type Projected, type Stored } from "../../ports/log.js";
import { modelVersionOf } from "../../ports/model-version.js";
import type { Scope } from "../../ports/names.js";
import { vectorsOf } from "../../ports/windows.js";
import { authorizeFree } from "../../requests/authorize.js";
import { parseFilter } from "../../requests/filter.js";
import type { JsonObject } from "../../requests/metadata.js";
import { visibleOnly } from "../../versions/fetch.js";
import { matchingIn } from "../matching.js";
import { fresh, type OpenStream, prover, type StreamPorts, type StreamRequest } from "./open-streams.js";
import { BEFORE_ALL, positionAfter, positionToken } from "./position.js";

const EXPORT_FORMAT = "recalld-export";
const EXPORT_VERSION = 1;
/** Longest time that an export may take. */
export const EXPORT_MS_MAX = 3_600_000;
/** Entries read at a time. */
const READ_MANY = 128;

interface ExportRequest extends StreamRequest {
  readonly includeVectors: boolean;
  readonly filter?: JsonObject | undefined;
}

/**
 * Writes out a namespace as of one position, as lines of JSON without their line ends: what it is, each
 * memory, oldest first, and the number of memories with the SHA-256 of all lines before. A namespace that
 * does not exist has no memories. Costs nothing.
 *
 * No memory that was stored after the position is in it, and none that was deleted, replaced or superseded
 * before, has expired or does not match the filter. One that is deleted meanwhile may be missing; its text is
 * read no more than a second before it is passed on.
 *
 * @throws MemoryError `failed_precondition` if the namespace is dropped meanwhile, `unavailable` if its vectors are asked
 * for and it moves to another model; else as `watch`.
 */
export async function* exportMemories(ports: StreamPorts, request: ExportRequest): AsyncGenerator<string> {
  const { caller, signal } = request;
  const filter = parseFilter(request.filter);
  const scope = await authorizeFree(ports, request, { writes: false });
  const stream = ports.streams.open("export", caller, signal);
  const hash = createHash("sha256");
  const hashed = (line: string) => {
    hash.update(line).update("\n");
    return line;
  };
  try {
    const living = await livingLogOf(ports, scope);
    const exported = living?.dropped ? undefined : living;
    yield hashed(JSON.stringify(await headerOf(ports, scope, exported)));
    let count = 0;
    for await (const memory of exported ? memoriesOf(ports, request, { stream, filter, ...exported }) : []) {
      count++;
      yield hashed(lineOf(memory));
    }
    yield JSON.stringify({ count, sha256: hash.digest("hex") });
  } finally {
    stream.close();
  }
}

async function headerOf(
  { modelVersions, clock }: StreamPorts,
  { namespace }: Scope,
  living: LivingLog | undefined,
) {
  const at = living ? positionAfter(living) : BEFORE_ALL;
  const model = living && (await modelVersions.find(modelVersionOf(living.logId)));
  return {
    format: EXPORT_FORMAT,
    version: EXPORT_VERSION,
    model: model?.id ?? null,
    model_revision: model?.revision ?? null,
    namespace,
    position: positionToken(at),
    exported_at: new Date(clock.wallMs()).toISOString(),
  };
}

interface Exported extends Pick<LivingLog, "logId" | "last"> {
  readonly filter: Filter | undefined;
  readonly stream: OpenStream;
}

/** Reads the visible memories of a log that match, as of its last entry. */
async function* memoriesOf(
  ports: StreamPorts,
  { caller, includeVectors, signal, ending }: ExportRequest,
  { logId, last, filter, stream }: Exported,
): AsyncGenerator<Projected["text"] | Stored> {
  const { clock } = ports;
  const untilMs = clock.nowMs() + EXPORT_MS_MAX;
  const prove = prover(ports, caller);
  const reading = { logId, after: 0 };
  const projection = includeVectors ? "all" : "text";
  while (reading.after < last) {
    signal.throwIfAborted();
    if (ending.aborted) throw unavailable("the server is shutting down");
    if (clock.nowMs() > untilMs) throw unavailable("the export took longer than an hour");
    await prove();
    const limit = Math.min(READ_MANY, last - reading.after);
    const { entries, dropped } = await stream.read(() => readOn(ports.log, reading, { limit, projection }));
    if (dropped) {
      throw new MemoryError("failed_precondition", "the namespace was dropped during the export", {
        reason: "POSITION_GONE",
      });
    }
    if (includeVectors && modelVersionOf(reading.logId) !== modelVersionOf(logId))
      throw unavailable("the namespace got vectors of another model during the export: begin it again");
    const end = entries.at(-1)?.sequence;
    // No log is shorter than it was.
    if (end === undefined) throw new MemoryError("internal", `the log ends at ${reading.after}`);
    const readMs = clock.nowMs();
    // Those that were superseded later are visible; of those that were replaced or deleted later, no text is left.
    const visible = await visibleOnly(ports, { logId: reading.logId, upto: last }, entries.filter(isMemory));
    const matching = filter === undefined ? visible : await matchingIn(clock, visible, filter);
    let passed = 0;
    for await (const { sequence, entry } of fresh(clock, matching, readMs)) {
      reading.after = sequence;
      yield entry;
      passed++;
    }
    if (passed === matching.length) reading.after = end;
    // Each slice may take less than a time slice, and nothing else in this loop waits.
    await clock.yield();
  }
}

/** Writes a memory. Its metadata is kept as it is, letter by letter. */
function lineOf(memory: Projected["text"] & Partial<Pick<Stored, "vectors" | "windows">>) {
  const { id, text, metadata, createdAtMs, updatedAtMs, externalId, expiresAtMs } = memory;
  const { eventAtMs, tokens, vectors, windows } = memory;
  const head = JSON.stringify({ id, text }).slice(0, -1);
  const tail = JSON.stringify({
    created_at: new Date(createdAtMs).toISOString(),
    ...(updatedAtMs !== undefined && { updated_at: new Date(updatedAtMs).toISOString() }),
    ...(externalId !== undefined && { external_id: externalId }),
    ...(expiresAtMs !== undefined && { expire_time: new Date(expiresAtMs).toISOString() }),
    ...(eventAtMs !== undefined && { event_time: new Date(eventAtMs).toISOString() }),
    tokens,
    ...(windows && { windows: windows.map(({ start, end }) => [start, end]) }),
    ...(vectors && { vectors: vectorsOf({ ...memory, vectors }).map(inBase64) }),
  }).slice(1);
  return `${head},"metadata":${metadata},${tail}`;
}

/** The float32 numbers in little-endian order, in base64: exact, and a quarter of their digits. */
function inBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
}
