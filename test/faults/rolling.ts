import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Balancer, BalancerKind } from "../support/balancer.js";
import { type Caller, type Sent, signUp } from "../support/caller.js";
import { chanceOf } from "../support/chance.js";
import { freePort } from "../support/free-port.js";

import type { TestServer } from "../support/server.js";
import { inParallel } from "./load.js";
import { grpcClient, httpClient, type RetryingClient, type Rpc } from "./retrying.js";

const REPLICAS = 3;
const CLIENTS_OF_EACH = 4;
const ACCOUNTS = 3;
const NAMESPACES = ["a", "b", "c", "d"];
/** Pause between two calls of a client, because other programs run on this machine, too. */
const PAUSE_MS_DEFAULT = 15;
/** Time from a replica's readiness to the next one's stop, in which the balancer must notice it. */
const SETTLE_MS = 2_000;
const READY_TIMEOUT_MS = 30_000;
/** Number of results, above the number of similar texts in any namespace. */
const TOP_K = 5;

export interface RollingOptions {
  /** Starts a server on the one database. */
  start(env: Record<string, string>): Promise<TestServer>;
  readonly balancer: BalancerKind;
  /** Number of restarts of each replica. */
  readonly restarts: number;
  /** Minimum duration of the whole. The restarts are spread over it. */
  readonly durationMs: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Pause between two calls of a client. */
  readonly pauseMs?: number;
  readonly seed: number;
}

export interface RollingFigures {
  readonly calls: number;
  readonly retries: number;
  readonly failed: number;
  readonly acknowledged: number;
  readonly recallsAtOnce: number;
  /** Recalls of these on another replica than the one of the store. */
  readonly elsewhere: number;
  readonly restarts: number;
  readonly slowestMs: number;
}

/**
 * Restarts each of three replicas behind a balancer, one after another, under a load of HTTP/1.1 and gRPC.
 *
 * @throws Error when a call fails for a client that retries `unavailable`, an acknowledged store is missed by
 * the very next call or lost at the end, or a deleted memory is recalled.
 */
export async function rollUnderLoad(options: RollingOptions): Promise<RollingFigures> {
  const fleet = new Fleet(options);
  let load: RollingLoad | undefined;
  try {
    load = await RollingLoad.open(await fleet.start(), options);
    const running = load.run();
    await Promise.race([restartAll(fleet, options), running]);
    load.stop();
    await running;
    await load.checkAll();
    const { calls, retries, failed, slowestMs } = load;
    return {
      calls,
      retries,
      failed,
      slowestMs,
      acknowledged: load.acknowledged,
      recallsAtOnce: load.pairs.length,
      elsewhere: fleet.elsewhere(load.pairs),
      restarts: fleet.restarts,
    };
  } finally {
    load?.close();
    await fleet.kill();
  }
}

async function restartAll(fleet: Fleet, { restarts, durationMs }: RollingOptions): Promise<void> {
  const begunMs = performance.now();
  const times = restarts * REPLICAS;
  for (let i = 0; i < times; i++) {
    await sleep(Math.max(0, begunMs + ((i + 0.5) * durationMs) / (times + 1) - performance.now()));
    await fleet.restart(i % REPLICAS);
  }
  await sleep(Math.max(0, begunMs + durationMs - performance.now()));
}

/** Replicas behind a balancer. Each has an address that it keeps after a restart. */
export class Fleet {
  restarts = 0;
  readonly servers: TestServer[] = [];
  #balancer: Balancer | undefined;
  /** Output of each replica's former processes. */
  readonly #before: string[] = Array.from({ length: REPLICAS }, () => "");

  constructor(private readonly options: Pick<RollingOptions, "start" | "balancer" | "env">) {}

  async start(): Promise<Balancer> {
    for (let i = 0; i < REPLICAS; i++) this.servers.push(await this.#startOne(await freePort()));
    this.#balancer = await this.options.balancer.start(this.servers.map(({ url }) => url));
    // The balancer answers as soon as it considers one replica up.
    await sleep(SETTLE_MS);
    return this.#balancer;
  }

  /**
   * Restarts a replica as an operator or Kubernetes does: SIGTERM, a new process, and a wait for readiness.
   */
  async restart(i: number): Promise<void> {
    const server = this.servers[i] as TestServer;
    const code = await server.stop();
    if (code !== 0) throw new Error(`a replica ended with ${code}:\n${server.output().slice(-2000)}`);
    this.#before[i] += server.output();
    this.servers[i] = await this.#startOne(server.port);
    this.restarts++;
    await sleep(SETTLE_MS);
  }

  async stop(i: number): Promise<void> {
    await (this.servers[i] as TestServer).stop();
  }

  /** Counts the pairs of request ids that two different replicas answered. */
  elsewhere(pairs: readonly (readonly [string, string])[]): number {
    const replicaOf = this.#replicasById();
    return pairs.filter(([one, other]) => replicaOf.get(one) !== replicaOf.get(other)).length;
  }

  /** Finds the replica that answered the call with this request id. */
  replicaOf(requestId: string): number {
    const replica = this.#replicasById().get(requestId);
    if (replica === undefined) throw new Error(`no replica has logged the request ${requestId}`);
    return replica;
  }

  /** Reads how many namespaces each replica holds open from its `/metrics`. */
  namespaces(): Promise<number[]> {
    return Promise.all(
      this.servers.map(async (server) => {
        const url = /http:\S+\/metrics/.exec(server.output())?.[0] ?? "";
        const metrics = await (await fetch(url)).text();
        return Number(/^recalld_index_namespaces (\d+)/m.exec(metrics)?.[1]);
      }),
    );
  }

  /** Reads the replicas' logs, also those before their restarts. */
  #replicasById(): Map<string, number> {
    const found = new Map<string, number>();
    for (const [i, server] of this.servers.entries()) {
      const output = this.#before[i] + server.output();
      for (const [, id] of output.matchAll(/"requestId":"([^"]+)"/g)) found.set(id as string, i);
    }
    return found;
  }

  async kill(): Promise<void> {
    await this.#balancer?.stop();
    await Promise.all(this.servers.map((server) => server.kill()));
  }

  async #startOne(port: number): Promise<TestServer> {
    const server = await this.options.start({
      PORT: String(port),
      METRICS_PORT: "0",
      FREE_CALLS: "1000000000",
      ...this.options.env,
    });
    for (const endMs = performance.now() + READY_TIMEOUT_MS; ; await sleep(50)) {
      if ((await fetch(`${server.url}/readyz`)).ok) return server;
      if (performance.now() > endMs) throw new Error(`a replica is not ready:\n${server.output()}`);
    }
  }
}

interface Request {
  readonly caller: Caller;
  /** Code of an error that is no failure. */
  readonly allow?: string;
  readonly namespace: string;
  readonly [field: string]: unknown;
}

interface StoredMemory {
  readonly caller: Caller;
  readonly sent: Sent;
  readonly id: string;
}

class RollingLoad {
  calls = 0;
  retries = 0;
  failed = 0;
  acknowledged = 0;
  slowestMs = 0;
  /** Request ids of stores, each with the recall right after it. */
  readonly pairs: [string, string][] = [];
  readonly #chance;
  readonly #stored: StoredMemory[] = [];
  readonly #forgotten: StoredMemory[] = [];
  #stopping = false;
  #requests = 0;

  private constructor(
    private readonly clients: readonly RetryingClient[],
    private readonly callers: readonly Caller[],
    private readonly pauseMs: number,
    seed: number,
  ) {
    this.#chance = chanceOf(seed);
  }

  static async open(
    { url, port }: Balancer,
    { seed, pauseMs = PAUSE_MS_DEFAULT }: Pick<RollingOptions, "seed" | "pauseMs">,
  ): Promise<RollingLoad> {
    const clients = Array.from({ length: CLIENTS_OF_EACH }, () => [
      httpClient(url),
      grpcClient(`127.0.0.1:${port}`),
    ]).flat();
    const callers = await Promise.all(Array.from({ length: ACCOUNTS }, () => signUp(url)));
    return new RollingLoad(clients, callers, pauseMs, seed);
  }

  async run(): Promise<void> {
    const work = async (client: RetryingClient) => {
      while (!this.#stopping) {
        await this.#callOnce(client);
        await sleep(this.pauseMs);
      }
    };
    await Promise.all(this.clients.map(work)).finally(() => this.stop());
  }

  stop(): void {
    this.#stopping = true;
  }

  close(): void {
    for (const client of this.clients) client.close();
  }

  /**
   * Checks by id that every acknowledged memory exists unless it was deleted, and that no deleted one does.
   */
  async checkAll(): Promise<void> {
    const all = [
      ...this.#stored.map((kept) => ({ kept, there: true })),
      ...this.#forgotten.map((kept) => ({ kept, there: false })),
    ];
    await inParallel({ times: all.length, parallel: this.clients.length }, async (i) => {
      const { kept, there } = all[i] as (typeof all)[0];
      const { code } = await kept.caller.get(kept.sent.namespace, kept.id);
      if (there && code !== "ok") throw new Error(`${kept.id} was acknowledged and is lost: ${code}`);
      if (!there && code !== "not_found") throw new Error(`${kept.id} was deleted and is there: ${code}`);
    });
  }

  async #callOnce(client: RetryingClient): Promise<void> {
    const kind = this.#chance.next();
    if (kind < 0.4 || this.#stored.length === 0) return this.#storeAndRecall(client);
    if (kind > 0.92) return this.#forget(client);
    const { caller, sent, id } = this.#chance.pick(this.#stored);
    if (kind < 0.8) await this.#recall(client, { caller, sent });
    // Another client may have deleted it meanwhile.
    else await this.#call(client, "GetMemory", { caller, namespace: sent.namespace, id, allow: "not_found" });
  }

  async #storeAndRecall(client: RetryingClient): Promise<void> {
    const caller = this.#chance.pick(this.callers);
    const sent = { text: this.#chance.text(), namespace: this.#chance.pick(NAMESPACES) };
    const { body, requestId: stored } = await this.#call(client, "Store", { caller, ...sent });
    const id = String(body.id);
    this.acknowledged++;
    // Another client asks, which may use the other protocol, and mostly reaches another replica.
    const { ids, requestId } = await this.#recall(this.#chance.pick(this.clients), { caller, sent });
    if (!ids.includes(id)) throw new Error(`${id} was acknowledged and the next recall misses it`);
    this.pairs.push([stored, requestId]);
    this.#stored.push({ caller, sent, id });
  }

  async #forget(client: RetryingClient): Promise<void> {
    const [kept] = this.#stored.splice(this.#chance.below(this.#stored.length), 1) as [StoredMemory];
    const { caller, sent, id } = kept;
    // An attempt whose answer was lost has deleted it already.
    await this.#call(client, "DeleteMemory", { caller, namespace: sent.namespace, id, allow: "not_found" });
    const { ids } = await this.#recall(this.#chance.pick(this.clients), { caller, sent });
    if (ids.includes(id)) throw new Error(`${id} was deleted and the next recall finds it`);
    this.#forgotten.push(kept);
  }

  async #recall(client: RetryingClient, { caller, sent }: { caller: Caller; sent: Sent }) {
    const { namespace, text: query } = sent;
    const { body, requestId } = await this.#call(client, "Recall", {
      caller,
      namespace,
      query,
      top_k: TOP_K,
    });
    return { ids: ((body.results ?? []) as JsonObject[]).map(({ id }) => String(id)), requestId };
  }

  async #call(
    client: RetryingClient,
    rpc: Rpc,
    { caller, allow, ...request }: Request,
  ): Promise<{ body: JsonObject; requestId: string }> {
    const requestId = `rolling-${this.#requests++}`;
    // Half of the calls follow the affinity. The others go to any replica, because the header is never
    // trusted.
    const affine = this.#chance.next() < 0.5;
    const route = affine ? request.namespace : String(this.#chance.below(1_000));
    const header = {
      authorization: `Bearer ${caller.key}`,
      "x-request-id": requestId,
      "recalld-namespace": route,
      ...(rpc === "Store" && { "idempotency-key": requestId }),
    };
    const begunMs = performance.now();
    this.calls++;
    try {
      const { body, retries } = await client.call(rpc, request as JsonObject, header);
      this.retries += retries;
      return { body, requestId };
    } catch (error) {
      if (allow !== undefined && String(error).toLowerCase().includes(allow)) return { body: {}, requestId };
      this.failed++;
      throw new Error(`${rpc} over ${client.protocol} failed: ${(error as Error).message}`, { cause: error });
    } finally {
      this.slowestMs = Math.max(this.slowestMs, performance.now() - begunMs);
    }
  }
}
