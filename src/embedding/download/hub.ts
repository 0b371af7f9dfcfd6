import type { Digest } from "./digest.js";

/** The hub sends large files from elsewhere, at most a few hops away. */
const REDIRECTS_MAX = 5;

/** A file on its way, from `offset` on. */
export interface HubFile {
  readonly body: AsyncIterable<Uint8Array>;
  readonly offset: number;
  /** Of the whole file; absent when the server does not tell, as is the digest. */
  readonly bytesTotal: number | undefined;
  readonly digest: Digest | undefined;
  /** The repository's state that the file is of. */
  readonly commit: string | undefined;
  /** Lets the rest of it stay where it is. */
  cancel(): Promise<void>;
}

/** The server answered and will not answer otherwise when asked again. */
export class HubRefusal extends Error {
  override readonly name: string = "HubRefusal";
}

/** There is no such file, or not for everybody. */
export class NotThere extends HubRefusal {}

/** The server has nothing beyond what is there already, so that must be something else. */
export class RangeRefused extends Error {
  override readonly name = "RangeRefused";
}

/** Asks for a file, without its first `offset` bytes if the server can do that. */
export async function requestFile(
  url: string,
  { offset, signal }: { offset: number; signal: AbortSignal },
): Promise<HubFile> {
  // Compressed, neither the sizes nor the ranges would be those of the file.
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
  // By way of the response, which must live until its body is read: fetch cancels the body of one that
  // is collected before anybody has begun to.
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
 * The hub names large files by their SHA-256 and small ones by git's hash, on its own answers, which
 * tell the commit. Where it redirects to, tags mean other things.
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
  // Left unread, it would hold its connection.
  void body?.cancel();
  if (status === 416) return new RangeRefused(`${url} has no such range`);
  // The hub says 401 of what does not exist, so as not to tell what is private.
  if (status === 401 || status === 403 || status === 404) {
    return new NotThere(`${url} does not exist or is not public (HTTP ${status})`);
  }
  const isPassing = status === 408 || status === 429 || status >= 500;
  return new (isPassing ? Error : HubRefusal)(`${url} answered HTTP ${status}`);
}

/** What really happened: fetch hides it one or two causes deep. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
