import { randomBytes, randomInt } from "node:crypto";
import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, failedPrecondition, MemoryError, unavailable } from "../../../errors.js";
import { answers, ask, listen } from "./socket.js";

/** Request of an operator's command to the process that owns the folder. */
interface OwnerRequest {
  readonly operation: string;
  readonly given: Readonly<Record<string, unknown>>;
}

/** Handles requests; throws MemoryError. */
export type Answering = (request: OwnerRequest) => Promise<unknown>;

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

const MASKED = new MemoryError("internal", "the server could not do this; it is a fault of ours");

/** Time to wait for an owner that is about to leave, such as an operator's command. */
export const RELEASE_WAIT_MS = 1000;
const LOOK_MS = 10;
/** Longest pause of a process that gave way; the pauses are random, so that not all return at once. */
const GIVE_WAY_MS_MAX = 50;

const SHOWN = /^owner-[0-9a-f]+\.sock$/;
/** Answer of a process that has the folder and answers no requests. */
const BUSY = "busy";

interface Folder {
  readonly dataDir: string;
  /** Handles requests of other processes; without it, none are handled. */
  readonly answer?: Answering | undefined;
}

/**
 * Makes this process the only owner of the folder, before it opens anything there: LMDB files do not
 * tolerate a second process that opens them while the first one writes.
 *
 * A process that wants the folder listens on a socket there, and only then looks for others. Of two
 * processes the later one sees the earlier, so two never both find themselves alone. The kernel closes a
 * socket with its process, however that ends: no lock remains, and a reused process id does no harm. It
 * works across containers that share a volume, because a socket is found by its file.
 *
 * @returns a function that gives the folder up.
 * @throws MemoryError `failed_precondition` when another process has the folder and keeps it.
 */
export async function claim({ dataDir, answer }: Folder): Promise<() => Promise<void>> {
  const claimant = await Claimant.in(dataDir, answer);
  try {
    await claimant.takeOver();
    return () => claimant.release();
  } catch (error) {
    await claimant.release();
    throw error;
  }
}

/**
 * Asks the process that owns the folder; returns undefined when none answers there.
 *
 * @throws MemoryError that it answers; `unavailable` when it ended without an answer.
 */
export async function askOwner(
  dataDir: string,
  request: Parameters<Answering>[0],
): Promise<{ result: unknown } | undefined> {
  for (const name of (await lookAround(dataDir)).alive) {
    const line = await ask(join(dataDir, name), JSON.stringify(request));
    if (line === undefined) throw unavailable(`the process that owns DATA_DIR ${dataDir} went away`);
    if (line !== BUSY) return { result: resultIn(line) };
  }
  return undefined;
}

class Claimant {
  readonly #name = `owner-${randomBytes(6).toString("hex")}.sock`;
  #stop: (() => Promise<void>) | undefined;
  #owns = false;

  private constructor(private readonly dataDir: string) {}

  static async in(dataDir: string, answer: Answering | undefined): Promise<Claimant> {
    const claimant = new Claimant(dataDir);
    const respond = answer && answering(answer);
    claimant.#stop = await listen(claimant.#hidden, async (line) =>
      respond !== undefined && claimant.#owns ? respond(line) : BUSY,
    );
    return claimant;
  }

  /**
   * Takes the folder over. Of several processes at once, the one whose name comes first stays, and the
   * others give way.
   */
  async takeOver(): Promise<void> {
    const deadline = performance.now() + RELEASE_WAIT_MS;
    await this.#show();
    for (;;) {
      const { alive, dead } = await lookAround(this.dataDir, { but: this.#name });
      if (alive.length === 0) {
        this.#owns = true;
        for (const name of dead) await rm(join(this.dataDir, name), { force: true });
        return;
      }
      if (performance.now() > deadline)
        throw failedPrecondition(`DATA_DIR ${this.dataDir} is in use by another recalld`);
      if (alive.some((name) => name < this.#name)) await this.#giveWay();
      else await sleep(LOOK_MS);
    }
  }

  async release(): Promise<void> {
    await this.#stop?.();
    for (const path of [this.#shown, this.#hidden]) await rm(path, { force: true });
  }

  async #giveWay(): Promise<void> {
    await rename(this.#shown, this.#hidden);
    await sleep(LOOK_MS + randomInt(GIVE_WAY_MS_MAX));
    await this.#show();
  }

  /**
   * Makes the listening socket visible, so a visible socket that does not answer belongs to a dead
   * process.
   */
  #show(): Promise<void> {
    return rename(this.#hidden, this.#shown);
  }

  get #shown(): string {
    return join(this.dataDir, this.#name);
  }

  get #hidden(): string {
    return join(this.dataDir, `claim-${this.#name}`);
  }
}

/** Finds the processes in the folder, and the sockets that dead ones left. */
async function lookAround(dataDir: string, { but }: { but?: string } = {}) {
  const [alive, dead]: [string[], string[]] = [[], []];
  for (const name of await readdir(dataDir).catch(noneWithout)) {
    if (!SHOWN.test(name) || name === but) continue;
    ((await answers(join(dataDir, name))) ? alive : dead).push(name);
  }
  return { alive, dead };
}

/** Returns no names for a folder that does not exist. */
function noneWithout(error: NodeJS.ErrnoException): string[] {
  if (error.code !== "ENOENT") throw error;
  return [];
}

/**
 * Wraps a function so that it answers in lines of JSON. Errors other than MemoryError are not described,
 * because they may hold a text.
 */
function answering(answer: Answering): (line: string) => Promise<string> {
  return async (line) => {
    try {
      return JSON.stringify({ result: (await answer(requestIn(line))) ?? null });
    } catch (error) {
      const { code, message } = error instanceof MemoryError ? error : MASKED;
      return JSON.stringify({ error: { code, message } });
    }
  };
}

function requestIn(line: string): OwnerRequest {
  const { operation, given } = objectIn(line);
  if (typeof operation === "string" && typeof given === "object" && given !== null) {
    return { operation, given: { ...given } };
  }
  throw failedPrecondition("the server does not understand this request: is it older?");
}

/**
 * Parses a request; returns an empty object if it is not one. The parser's words would repeat the
 * request.
 */
function objectIn(line: string): { readonly operation?: unknown; readonly given?: unknown } {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {};
  }
}

/** Returns the result in a line that `answering` made. @throws the MemoryError that is in it. */
function resultIn(line: string): unknown {
  const { result, error } = JSON.parse(line) as Answer;
  if (error !== undefined) throw new MemoryError(error.code, error.message);
  return result;
}
