import type { Digest } from "./digest.js";

/** Maximum number of redirects: the hub redirects for large files, a few hops at most. */
const REDIRECTS_MAX = 5;

/** A file that is being received, from `offset` on. */
export interface HubFile {
  readonly body: AsyncIterable<Uint8Array>;
  readonly offset: number;
  /** Size of the whole file; absent, like the digest, when the server does not tell it. */
  readonly bytesTotal: number | undefined;
  readonly digest: Digest | undefined;
  /** Commit of the repository that holds this version of the file. */
  readonly commit: string | undefined;
  /** Cancels the transfer of the rest. */
  cancel(): Promise<void>;
}

/** A refusal by the server that would be the same if asked again. */
export class HubRefusal extends Error {
  override readonly name: string = "HubRefusal";
}

/** A refusal because the file does not exist or is not public. */
export class NotThere extends HubRefusal {}

/** A refusal because the server's file ends where the remainder ends, so the two differ. */
export class RangeRefused extends Error {
  override readonly name = "RangeRefused";
}

/** Requests a file, without its first `offset` bytes if the server supports it. */
export async function requestFile(
  url: string,
  { offset, signal }: { offset: number; signal: AbortSignal },
): Promise<HubFile> {
  // With compression, sizes and ranges would not be those of the file.
  const headers: Record<string, string> = { "accept-encoding": "identity" };
  if (offset > 0) headers.range = `bytes=${offset}-`;
  const hops: Headers[] = [];
  let at = url;
  while (hops.length <= REDIRECTS_MAX) {
    const response = await fetch(at, { headers, signal, redirect: "manual" });
    hops.push(response.headers);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) return read(response, hops);
    await response.body?.cancel();
    at = new URL(location, at).href;
  }
  throw new HubRefusal(`${url} is redirected more than ${REDIRECTS_MAX} times`);
}

function read(response: Response, hops: readonly Headers[]): HubFile {
  const { status, body, headers } = response;
  if (body === null || (status !== 200 && status !== 206)) throw refusal(response);
  const digest = digestIn(hops);
  const commit = hops.map((hop) => hop.get("x-repo-commit")).find((each) => each !== null) ?? undefined;
  // The closure keeps the response alive until its body is read: fetch cancels the body of a response
  // that is garbage-collected before reading begins.
  const file = { body, digest, commit, cancel: async () => response.body?.cancel() };
  if (status === 206) return { ...file, ...rangeOf(headers) };
  const length = headers.get("content-length");
  return { ...file, offset: 0, bytesTotal: length === null ? undefined : Number(length) };
}

function rangeOf(headers: Headers): { offset: number; bytesTotal: number } {
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get("content-range") ?? "");
  if (range === null) throw new HubRefusal("the server does not say which part of the file it sends");
  return { offset: Number(range[1]), bytesTotal: Number(range[2]) };
}

/**
 * Finds the hash in the hub's own responses: SHA-256 for large files, git's hash for small ones. On the
 * servers to which it redirects, ETags have other meanings.
 * https://huggingface.co/docs/huggingface_hub/package_reference/file_download (get_hf_file_metadata)
 */
function digestIn(hops: readonly Headers[]): Digest | undefined {
  for (const headers of hops.filter((hop) => hop.has("x-repo-commit"))) {
    const tag = (headers.get("x-linked-etag") ?? headers.get("etag"))?.replace(/^"|"$/g, "") ?? "";
    if (/^[0-9a-f]{64}$/.test(tag)) return { kind: "sha256", hex: tag };
    if (/^[0-9a-f]{40}$/.test(tag)) return { kind: "git-blob", hex: tag };
  }
  return undefined;
}

function refusal({ status, url, body }: Response): Error {
  // An unread body would keep its connection open.
  void body?.cancel();
  if (status === 416) return new RangeRefused(`${url} has no such range`);
  // The hub answers 401 for what does not exist, so that it does not reveal what is private.
  if (status === 401 || status === 403 || status === 404) {
    return new NotThere(`${url} does not exist or is not public (HTTP ${status})`);
  }
  const isPassing = status === 408 || status === 429 || status >= 500;
  return new (isPassing ? Error : HubRefusal)(`${url} answered HTTP ${status}`);
}

/** Finds the reason of an error, which fetch hides one or two causes deep. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
