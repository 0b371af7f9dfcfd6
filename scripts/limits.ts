import { table } from "../bench/compare/table.js";
import { KEYS_MAX, SESSIONS_MAX } from "../src/accounts/account.js";
import { ACCOUNT_SESSIONS_MAX } from "../src/accounts/changes.js";
import { GRACE_SECONDS_MAX, KEY_NAME_BYTES_MAX } from "../src/accounts/keys.js";
import { builtInPlans, FREE, type Plan } from "../src/accounts/plan.js";
import { RUNNING_CALLS_MAX } from "../src/accounts/plan-limits.js";
import { EMAIL_BYTES_MAX } from "../src/accounts/sign-up.js";
import type { Rate } from "../src/concurrency/bucket.js";
import { loadConfig } from "../src/config/config.js";
import { count } from "../src/errors.js";
import { IDEMPOTENCY_KEY_CHARS_MAX, IDEMPOTENCY_TTL_MS } from "../src/memory/idempotency/idempotency.js";
import { NEIGHBORS_MAX } from "../src/memory/operations/recall/neighbors.js";
import { QUERIES_MAX } from "../src/memory/operations/recall/question.js";
import { RECALL_BYTES_MAX } from "../src/memory/operations/recall.js";
import { BATCH_MAX } from "../src/memory/operations/store-batch.js";
import { EXPORT_MS_MAX } from "../src/memory/operations/stream/export.js";
import { STREAM_LIMITS } from "../src/memory/operations/stream/open-streams.js";
import {
  FILTER_BYTES_MAX,
  FILTER_CLAUSES_MAX,
  FILTER_DEPTH_MAX,
  FILTER_LIST_MAX,
  FILTER_STRING_BYTES_MAX,
} from "../src/memory/requests/filter.js";
import { FILTER_PATH_BYTES_MAX } from "../src/memory/requests/filter-path.js";
import { IDS_MAX, SUPERSEDES_MAX } from "../src/memory/requests/id.js";
import { METADATA_BYTES_MAX, METADATA_DEPTH_MAX } from "../src/memory/requests/metadata.js";
import { ALSO_IN_MAX, EXTERNAL_ID_BYTES_MAX, NAMESPACE_BYTES_MAX } from "../src/memory/requests/namespace.js";
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from "../src/memory/requests/page.js";
import { TOP_K_DEFAULT, TOP_K_MAX } from "../src/memory/requests/recall-options.js";
import { TEXT_BYTES_MAX } from "../src/memory/requests/text.js";
import { STREAMED_RATE } from "../src/server/body.js";
import {
  CALL_TIMEOUT_MS,
  MEMORY_BYTES_MAX,
  SMALL_BYTES_MAX,
  SMALL_MEMORY_BYTES_MAX,
} from "../src/server/call.js";
import { HEADER_BYTES_FREE, RESETS_RATE } from "../src/server/listen/http2-sessions.js";
import { KEYLESS_RATE, PROBES_RATE } from "../src/server/listen/keyless.js";
import { HTTP2_STREAMS_MAX, ONE_PORT_LIMITS } from "../src/server/listen/one-port-limits.js";
import { CHUNK_BYTES_MIN, CHUNKS_MAX } from "../src/server/listen/open-requests.js";
import { OVERHEAD_RATE } from "../src/server/listen/overhead.js";
import { REFUSALS_RATE } from "../src/server/listen/refusals.js";
import { RECORD_TIMES } from "../src/server/listen/tls.js";
import { LOOP_DELAY_MS_MAX } from "../src/server/load.js";
import { DOCUMENT_FETCHES_MAX } from "../src/server/oauth/clients.js";
import { FILES_MAX } from "../src/server/portal/portal.js";
import { HEALTH_WATCHES_MAX } from "../src/server/rpc/health.js";
import { BATCH_BODY_BYTES_MAX, BODY_BYTES_MAX } from "../src/server/rpc/service.js";

type Row = readonly [what: string, limit: string, beyond?: string];

const BEGIN = "<!-- `npm run generate` writes: limits -->";
const END = "<!-- End of limits. -->";

const bytes = (n: number) => `${count(n)} bytes`;
const rateOf = ({ perSecond, burst }: Rate) => `${count(perSecond)} a second, ${count(burst)} at once`;
const seconds = (ms: number) => `${ms / 1000} s`;

const config = loadConfig({});
const { calls, rate, concurrency = 0, accountTimes } = builtInPlans(config.freeCalls).get(FREE) as Plan;
const { perSecond = 0, burst = 0 } = rate ?? {};
const port = ONE_PORT_LIMITS;
const { watch, export: exported } = STREAM_LIMITS;

/** Fields of requests. */
const REQUESTS: readonly Row[] = [
  ["`text`, `query`", bytes(TEXT_BYTES_MAX)],
  ["`namespace`, `prefix`", bytes(NAMESPACE_BYTES_MAX)],
  ["`metadata`", `${bytes(METADATA_BYTES_MAX)} as JSON, ${METADATA_DEPTH_MAX} levels`],
  ["`external_id`", bytes(EXTERNAL_ID_BYTES_MAX)],
  ["`supersedes`", `${SUPERSEDES_MAX} ids`],
  ["`memories` of a batch", count(BATCH_MAX)],
  ["`ids`", count(IDS_MAX)],
  ["`top_k`", `1 to ${TOP_K_MAX}, ${TOP_K_DEFAULT} when left out`],
  ["`queries`", count(QUERIES_MAX)],
  ["`also_in`", count(ALSO_IN_MAX)],
  ["`neighbors` on each side of a result", count(NEIGHBORS_MAX)],
  ["Texts and metadata of a recall's answer", bytes(RECALL_BYTES_MAX), "it ends, and is `shortened`"],
  ["`page_size`", `1 to ${PAGE_SIZE_MAX}, ${PAGE_SIZE_DEFAULT} when left out`],
  ["`filter`", `${bytes(FILTER_BYTES_MAX)} as JSON`],
  ["Levels of a filter: itself, and each `$and`, `$or` and `$not`", count(FILTER_DEPTH_MAX)],
  ["Tests of a filter, which are operators with a value", count(FILTER_CLAUSES_MAX)],
  ["Values of a `$in` or `$nin`, filters of a `$and` or `$or`", count(FILTER_LIST_MAX)],
  ["String that a filter compares a field with", bytes(FILTER_STRING_BYTES_MAX)],
  [`Path of a filter, of at most ${METADATA_DEPTH_MAX} keys`, bytes(FILTER_PATH_BYTES_MAX)],
  [
    "`Idempotency-Key`",
    `${IDEMPOTENCY_KEY_CHARS_MAX} characters, kept for ${IDEMPOTENCY_TTL_MS / 3_600_000} hours`,
  ],
  ["`email`", bytes(EMAIL_BYTES_MAX)],
  ["`name` of a key", bytes(KEY_NAME_BYTES_MAX)],
  ["`grace_seconds`", count(GRACE_SECONDS_MAX)],
  ["Body", bytes(BODY_BYTES_MAX), "413 `BODY_TOO_LARGE`, or 429 at RPC paths"],
  ["Body of a batch", bytes(BATCH_BODY_BYTES_MAX), "the same"],
  ["Chunks of a body, or frames of HTTP/2", `${count(CHUNKS_MAX)}, and 1 more for ${CHUNK_BYTES_MIN} bytes`],
];

/** What an account may use. Rates and running calls are those of the built-in plan. */
const ACCOUNTS: readonly Row[] = [
  ["Successful stores and recalls (`FREE_CALLS`)", count(calls), "`QUOTA_EXHAUSTED`"],
  ["Calls of a key", `${perSecond} a second, ${burst} at once`, "`KEY_RATE_LIMITED`"],
  [
    "Calls of all keys of an account",
    `${accountTimes * perSecond} a second, ${accountTimes * burst} at once`,
    "`KEY_RATE_LIMITED`",
  ],
  ["Running calls of a key", count(concurrency), "`CONCURRENCY_LIMITED`"],
  ["Running calls of an account", count(accountTimes * concurrency), "`CONCURRENCY_LIMITED`"],
  ["Keys of an account", count(KEYS_MAX), "400 `KEYS_LIMIT`"],
  ["Signed-in browsers of a key", count(SESSIONS_MAX), "one more ends the oldest"],
  ["Signed-in browsers of an account", count(ACCOUNT_SESSIONS_MAX), "one more ends the oldest"],
  ["Open watches of an account", count(watch.perAccount), "`STREAMS_LIMITED`"],
  ["Open exports of an account", count(exported.perAccount), "`STREAMS_LIMITED`"],
  ["Sign-ups of an address in an hour (`SIGNUPS_PER_HOUR`)", count(config.signupsPerHour), "`RATE_LIMITED`"],
  ["Time of a call", seconds(CALL_TIMEOUT_MS), "504 `deadline_exceeded`"],
  ["Time of an export", `${EXPORT_MS_MAX / 3_600_000} hour`, "503 `unavailable`"],
];

/** What all callers of a process share. */
const PROCESS: readonly Row[] = [
  ["Running calls", count(RUNNING_CALLS_MAX), "`CONCURRENCY_LIMITED`"],
  ["Requests and answers in memory", bytes(MEMORY_BYTES_MAX), "`BODIES_LIMITED`"],
  [
    `Those of up to ${bytes(SMALL_BYTES_MAX)}, beside the others`,
    bytes(SMALL_MEMORY_BYTES_MAX),
    "`BODIES_LIMITED`",
  ],
  ["Open watches", count(watch.all), "`STREAMS_LIMITED`"],
  ["Open exports", count(exported.all), "`STREAMS_LIMITED`"],
  ["Unfinished HTTP/2 calls", count(HTTP2_STREAMS_MAX), "they are refused before any work"],
  ["Files of the portal that are being sent", count(FILES_MAX), "503"],
  ["Documents of OAuth clients that are being fetched", count(DOCUMENT_FETCHES_MAX), "429 or 503"],
  ["Open watches of gRPC health", count(HEALTH_WATCHES_MAX), "429 `STREAMS_LIMITED`"],
  ["Lateness of the event loop, smoothed", `${LOOP_DELAY_MS_MAX} ms`, "503 `unavailable`"],
  ["Sign-ups in an hour (`SIGNUPS_PER_HOUR_TOTAL`)", count(config.signupsPerHourTotal), "429 `RATE_LIMITED`"],
];

const CONNECTIONS: readonly Row[] = [
  ["Open connections (`CONNECTIONS_MAX`)", count(port.connectionsMax), "new ones are closed"],
  [
    "Those of an address, of IPv6 of one /64 (`CONNECTIONS_PER_ADDRESS_MAX`)",
    count(port.connectionsPerAddressMax),
    "new ones are reset",
  ],
  ["Size of a request's headers", bytes(port.headerBytesMax), "431, or on HTTP/2 the call is reset"],
  ["Number of a request's headers", count(port.headerLinesMax), "431, or on HTTP/2 the call is reset"],
  ["Time to the first bytes, and for the TLS handshake", seconds(port.firstBytesTimeoutMs)],
  ["Time for a request's headers", seconds(port.headersTimeoutMs), "408, and the connection is closed"],
  ["Time for a request's body", seconds(port.requestTimeoutMs), "408, or on HTTP/2 the call is reset"],
  [
    "Time for which an answer waits to be read",
    seconds(port.answerTimeoutMs),
    "the connection or the HTTP/2 call is reset",
  ],
  ["Pipelined requests of an HTTP/1 connection", count(port.pipelinedMax)],
  ["Time between two requests of an HTTP/1 connection", seconds(port.keepAliveTimeoutMs)],
  [
    "Time without a byte",
    seconds(port.silenceTimeoutMs),
    "the connection is closed, or an HTTP/2 session with calls pinged",
  ],
  ["Requests without a key of an address", rateOf(KEYLESS_RATE), "429 `RATE_LIMITED`"],
  ["Probes of an address", rateOf(PROBES_RATE), "429 `RATE_LIMITED`"],
  [
    "Messages of streams without a key (reflection) of an address",
    rateOf(STREAMED_RATE),
    "429 `RATE_LIMITED`",
  ],
  ["Refused requests of an address", rateOf(REFUSALS_RATE), "each further one closes its connection"],
  [
    "HTTP/2 calls of an address that are reset",
    rateOf(RESETS_RATE),
    "the session is ended, and new ones are reset",
  ],
  [
    `HTTP/2 bytes of an address beside bodies and ${bytes(HEADER_BYTES_FREE)} of headers a call`,
    rateOf(OVERHEAD_RATE),
    "the session is ended, and new ones are reset",
  ],
  [
    "TLS bytes of an address beside twice what they say",
    rateOf({
      perSecond: OVERHEAD_RATE.perSecond / RECORD_TIMES,
      burst: OVERHEAD_RATE.burst / RECORD_TIMES,
    }),
    "the connection is closed, and new ones are",
  ],
  ["Calls at a time on an HTTP/2 session", count(port.streamsMax), "they are refused; most clients wait"],
  [
    "Those that come at once, with those that are reset",
    count(port.streamsMax),
    "they are refused before any work",
  ],
  ["Unread body of an HTTP/2 call", bytes(port.unreadStreamBytesMax), "the client waits"],
];

/** The tables of limits by their headings, each after what happens beyond a limit of which nothing else is said. */
const PARTS: Readonly<Record<string, readonly [beyond: string, rows: readonly Row[]]>> = {
  "Limits of a request": [
    "Beyond a limit, a call is `invalid_argument` (400), unless its row says otherwise:",
    REQUESTS,
  ],
  "Limits of an account": [
    "Beyond a limit, a call is refused, with HTTP 429 unless its row says otherwise:",
    ACCOUNTS,
  ],
  "Limits of a process": [
    "Beyond a limit, a call is refused: with HTTP 429 if its caller has a large share, else with 503:",
    PROCESS,
  ],
  "Limits of a connection": [
    "Beyond a limit, the connection is closed, unless its row says otherwise:",
    CONNECTIONS,
  ],
};

/** Writes the tables of limits into a page, between its marks. */
export function withLimits(page: string): string {
  const [before, rest = ""] = page.split(`${BEGIN}\n`);
  const [, after] = rest.split(END);
  if (before === undefined || after === undefined) throw new Error("the page has no place for the limits");
  const tables = Object.entries(PARTS).map(([title, [beyond, rows]]) => {
    const cells = rows.map(([what, limit, then]) => [
      what,
      then === undefined ? limit : `${limit}, then ${then}`,
    ]);
    return `### ${title}\n\n${beyond}\n\n${table(["What", "Limit"], cells)}\n`;
  });
  return `${before}${BEGIN}\n\n${tables.join("")}${END}${after}`;
}
