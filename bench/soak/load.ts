import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { Health } from "../../gen/health/v1/health_pb.js";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import { memory, question } from "../compare/memories.js";

/** Memories that exist at any time: for each that is stored, the oldest is deleted. */
const MEMORIES_MAX = 1_000;
const NAMESPACES = 20;
const PAUSE_MS = 20;
/** Sentences of a text that is so long that it is read in windows. */
const LONG_SENTENCES = 40;

interface Address {
  readonly namespace: string;
  readonly id: string;
}

/**
 * Load whose state does not grow: memories, namespaces, accounts, keys and connections come and go at the
 * same rate, over every protocol. Anything that grows under it belongs to the server.
 */
export class SteadyLoad {
  calls = 0;
  readonly #existing: Address[] = [];
  #stopping = false;
  #number = 0;
  #key = "";

  constructor(private readonly baseUrl: string) {}

  /**
   * Runs until stopped.
   *
   * @throws the error of the first call that fails.
   */
  async run(): Promise<void> {
    const { baseUrl } = this;
    const bare = createClient(AccountService, createConnectTransport({ baseUrl, httpVersion: "1.1" }));
    this.#key = (await bare.signUp({})).apiKey;
    const own = { baseUrl, interceptors: [withKey(() => this.#key)] };
    const transports = [
      createConnectTransport({ ...own, httpVersion: "1.1" }),
      createConnectTransport({ ...own, httpVersion: "2" }),
      createGrpcTransport(own),
      createGrpcWebTransport({ ...own, httpVersion: "1.1" }),
    ];
    const work = [
      ...transports.map((transport) => this.#repeat(this.#memories(transport))),
      this.#repeat(() => this.#accounts(own.baseUrl)),
      this.#repeat(() => this.#strangers(own.baseUrl)),
    ];
    await Promise.all(work).finally(() => this.stop());
  }

  stop(): void {
    this.#stopping = true;
  }

  async #repeat(action: () => Promise<unknown>): Promise<void> {
    while (!this.#stopping) {
      await action();
      await sleep(PAUSE_MS);
    }
  }

  /** Mostly stores and recalls, and sometimes makes each other call that reads. */
  #memories(transport: Transport): () => Promise<void> {
    const client = createClient(MemoryService, transport);
    return async () => {
      const number = this.#number++;
      const namespace = `n-${number % NAMESPACES}`;
      await this.#store(client, { number, namespace });
      for (let i = 0; i < 3; i++) await client.recall({ query: question(number * 3 + i), namespace });
      this.calls += 4;
      if (number % 10 === 0) await this.#read(client, namespace);
      if (number % 50 === 0) await this.#comeAndGo(client, number);
    };
  }

  async #store(
    client: Client<typeof MemoryService>,
    { number, namespace }: { number: number; namespace: string },
  ) {
    const long = number % 100 === 0;
    const text = long
      ? Array.from({ length: LONG_SENTENCES }, (_, i) => memory(number + i)).join(" ")
      : memory(number);
    const headers = { "idempotency-key": `soak-${number}` };
    const { id } = await client.store(
      { text, namespace, metadata: { number } },
      number % 4 === 0 ? { headers } : {},
    );
    this.#existing.push({ namespace, id });
    if (this.#existing.length <= MEMORIES_MAX) return;
    await client.deleteMemory(this.#existing.shift() as Address);
    this.calls++;
  }

  async #read(client: Client<typeof MemoryService>, namespace: string): Promise<void> {
    const newest = this.#existing.at(-1);
    if (newest !== undefined) await client.getMemory(newest);
    await client.listMemories({ namespace });
    await client.listNamespaces({});
    this.calls += 3;
  }

  /** Creates a namespace and drops it soon after. */
  async #comeAndGo(client: Client<typeof MemoryService>, number: number): Promise<void> {
    const namespace = `moment-${number}`;
    for (let i = 0; i < 5; i++) await client.store({ text: memory(number + i), namespace });
    await client.deleteNamespace({ namespace, force: true });
    this.calls += 6;
  }

  /** Opens an account, gives it a second key, uses that and closes the account. */
  async #accounts(baseUrl: string): Promise<void> {
    let key = (await clientOf(AccountService, baseUrl).signUp({})).apiKey;
    const own = { baseUrl, httpVersion: "1.1" as const, interceptors: [withKey(() => key)] };
    const accounts = createClient(AccountService, createConnectTransport(own));
    const memories = createClient(MemoryService, createConnectTransport(own));
    const made = await accounts.createKey({ name: "soak" });
    key = made.apiKey;
    await memories.store({ text: memory(this.#number), namespace: "n" });
    await memories.recall({ query: question(this.#number), namespace: "n" });
    await accounts.getUsage({});
    await accounts.closeAccount({ accountId: (await accounts.getAccount({})).accountId });
    this.calls += 7;
    await sleep(1_000);
  }

  /** Plays strangers: wrong keys, new connections, and a health watch that is broken off. */
  async #strangers(baseUrl: string): Promise<void> {
    const headers = { authorization: "Bearer rcl_nobody", connection: "close" };
    await fetch(`${baseUrl}/recall`, { method: "POST", headers, body: "{}" }).then((answer) => answer.text());
    const sessionManager = new Http2SessionManager(baseUrl);
    const health = createClient(Health, createGrpcTransport({ baseUrl, sessionManager }));
    const leaving = new AbortController();
    try {
      for await (const _ of health.watch({}, { signal: leaving.signal })) leaving.abort();
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
    }
    sessionManager.abort();
    this.calls += 2;
    await sleep(200);
  }
}

function withKey(key: () => string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${key()}`);
    return next(request);
  };
}

function clientOf<T extends typeof AccountService>(service: T, baseUrl: string): Client<T> {
  return createClient(service, createConnectTransport({ baseUrl, httpVersion: "1.1" }));
}
