import { type Chance, chanceOf } from "../support/chance.js";
import { type Result, type Session, startSession } from "../support/mcp.js";
import { newDataDir } from "../support/server.js";

const AGENTS = 4;
const PAGE = { page_size: 100, max_tokens: 20_000, order: "OLDEST_FIRST" };

export interface SessionsOptions {
  /** Number of stores and recalls together. */
  readonly calls: number;
  readonly seed: number;
}

export interface SessionsFigures {
  readonly stored: number;
  readonly recalled: number;
  /** Number of processes that were killed with -9, the first that served among them. */
  readonly kills: number;
  /** Calls in flight at a kill, of the process that was killed. */
  readonly unanswered: number;
}

/**
 * Lets four processes of `recalld mcp` share a folder: each stores a text and recalls it by its own words, again
 * and again. One after the other is killed on the way and replaced; the first one killed is the one that serves.
 *
 * @throws Error if a call of a living process fails, or a memory is lost, changed or there twice.
 */
export async function shareFolder({ calls, seed }: SessionsOptions): Promise<SessionsFigures> {
  const folder = newDataDir();
  const chance = chanceOf(seed);
  const work = new Work(calls / 2, chance);
  const agents = [await Agent.in(folder)];
  // It served before the others began.
  await agents[0]?.call("memory_namespaces");
  while (agents.length < AGENTS) agents.push(await Agent.in(folder));
  try {
    await Promise.all(agents.map((agent) => work.with(agent, agents)));
    work.compare(await listed(agents[0] as Agent));
  } finally {
    await Promise.all(agents.map((agent) => agent.close()));
  }
  return work.figures;
}

/** An agent whose process of `recalld mcp` is started again after it was killed. */
class Agent {
  #killed = false;

  private constructor(
    private readonly folder: string,
    private session: Session,
  ) {}

  static async in(folder: string): Promise<Agent> {
    return new Agent(folder, await open(folder));
  }

  /** Calls a tool. Returns its data, or undefined if the process was killed before it answered. */
  async call(name: string, given: Record<string, unknown> = {}): Promise<Result["data"] | undefined> {
    try {
      const { isError, text, data } = await this.session.call(name, given);
      if (isError) throw new Error(`${name}: ${text}`);
      return data;
    } catch (error) {
      if (!this.#killed) throw error;
      await this.close();
      this.session = await open(this.folder);
      this.#killed = false;
      return undefined;
    }
  }

  kill(): void {
    this.#killed = true;
    process.kill(this.session.transport.pid as number, "SIGKILL");
  }

  close(): Promise<void> {
    return this.session.client.close();
  }
}

function open(folder: string): Promise<Session> {
  return startSession({ DATA_DIR: folder, HOME: folder });
}

/** Plan of the agents' calls, and their outcome. */
class Work {
  /** Ids of acknowledged memories, by their texts. */
  readonly #stored = new Map<string, string>();
  /** Texts whose store had no answer. */
  readonly #open = new Set<string>();
  #begun = 0;
  #recalled = 0;
  #kills = 0;
  #unanswered = 0;

  constructor(
    private readonly stores: number,
    private readonly chance: Chance,
  ) {}

  get figures(): SessionsFigures {
    const { size: stored } = this.#stored;
    return { stored, recalled: this.#recalled, kills: this.#kills, unanswered: this.#unanswered };
  }

  async with(agent: Agent, all: readonly Agent[]): Promise<void> {
    while (this.#begun < this.stores) {
      this.#begun++;
      if (this.#begun > (this.stores * (this.#kills + 1)) / (all.length + 1)) all[this.#kills++]?.kill();
      await this.#storeAndRecall(agent, this.chance.text());
    }
  }

  async #storeAndRecall(agent: Agent, text: string): Promise<void> {
    const stored = await agent.call("memory_store", { text });
    if (stored === undefined) {
      this.#unanswered++;
      this.#open.add(text);
      return;
    }
    this.#stored.set(text, stored.id);
    const found = await agent.call("memory_recall", { query: text });
    if (found === undefined) this.#unanswered++;
    else if (found.memories.some(({ id }: { id: string }) => id === stored.id)) this.#recalled++;
    else throw new Error(`${stored.id} was stored and is not recalled by its own words: ${text}`);
  }

  /** Compares what is there with what was acknowledged. @throws Error */
  compare(all: readonly { id: string; text: string }[]): void {
    const texts = new Map(all.map(({ id, text }) => [text, id]));
    if (texts.size < all.length) throw new Error(`${all.length - texts.size} memories are there twice`);
    for (const [text, id] of this.#stored)
      if (texts.get(text) !== id) throw new Error(`${id} was acknowledged and is lost`);
    for (const [text, id] of texts)
      if (!this.#stored.has(text) && !this.#open.has(text))
        throw new Error(`${id} was never stored: ${text}`);
  }
}

/** Lists all memories. */
async function listed(agent: Agent): Promise<{ id: string; text: string }[]> {
  const all: { id: string; text: string }[] = [];
  for (let page_token = ""; ; ) {
    const page = await agent.call("memory_list", { ...PAGE, page_token });
    // Its process was killed at the very end: the next one lists.
    if (page === undefined) continue;
    if (page.left_out !== undefined) throw new Error("a page is larger than its budget");
    all.push(...page.memories);
    if (page.next_page_token === undefined) return all;
    page_token = page.next_page_token;
  }
}
