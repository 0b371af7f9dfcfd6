import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LISTENING = /WebDriver BiDi listening on (ws:\/\/\S+)/;
const STARTED_WITHIN_MS = 60_000;
const ANSWERED_WITHIN_MS = 120_000;

interface Reply {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly level?: string; readonly text?: string };
  readonly result?: unknown;
  readonly error?: string;
  readonly message?: string;
}

/** One tab of a Firefox without a window, driven by WebDriver BiDi, which Firefox speaks by itself. */
export class Firefox {
  /** Errors in the console, and uncaught ones. */
  readonly faults: string[] = [];
  readonly #answers = new Map<number, (reply: Reply) => void>();
  #sent = 0;
  #tab = "";

  private constructor(
    private readonly child: ChildProcess,
    private readonly profile: string,
    private readonly socket: WebSocket,
  ) {
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(String(data)) as Reply);
  }

  /** @throws Error if it does not start. */
  static async start(program: string): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), "recalld-firefox-"));
    const args = ["--headless", "--no-remote", "--remote-debugging-port=0", "--profile", profile];
    const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
    const url = await listening(child);
    const socket = new WebSocket(`${url}/session`);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error("Firefox takes no connection"));
    });
    const firefox = new Firefox(child, profile, socket);
    await firefox.#send("session.new", { capabilities: {} });
    await firefox.#send("session.subscribe", { events: ["log.entryAdded"] });
    const { context } = (await firefox.#send("browsingContext.create", { type: "tab" })) as {
      context: string;
    };
    firefox.#tab = context;
    return firefox;
  }

  async resize(width: number, height: number): Promise<void> {
    await this.#send("browsingContext.setViewport", { context: this.#tab, viewport: { width, height } });
  }

  async open(url: string): Promise<void> {
    await this.#send("browsingContext.navigate", { context: this.#tab, url, wait: "complete" });
  }

  /** Evaluates an expression in the page, waits for its promise, and returns its value, which must be JSON. */
  async evaluate<T>(expression: string): Promise<T> {
    const evaluated = (await this.#send("script.evaluate", {
      expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`,
      target: { context: this.#tab },
      awaitPromise: true,
    })) as { type: string; result?: { value: string }; exceptionDetails?: { text: string } };
    if (evaluated.type !== "success") throw new Error(evaluated.exceptionDetails?.text);
    return JSON.parse(evaluated.result?.value ?? "null") as T;
  }

  /** Presses keys one after the other, as a keyboard does. */
  async type(keys: string): Promise<void> {
    const actions = [...keys].flatMap((value) => [
      { type: "keyDown", value },
      { type: "keyUp", value },
    ]);
    await this.#send("input.performActions", {
      context: this.#tab,
      actions: [{ type: "key", id: "keyboard", actions }],
    });
  }

  async close(): Promise<void> {
    const exited = new Promise((resolve) => this.child.once("exit", resolve));
    this.socket.close();
    this.child.kill();
    await exited;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  async #send(method: string, params: object): Promise<unknown> {
    const id = ++this.#sent;
    const answered = new Promise<Reply>((resolve, reject) => {
      this.#answers.set(id, resolve);
      setTimeout(() => reject(new Error(`${method} is not answered`)), ANSWERED_WITHIN_MS).unref();
    });
    this.socket.send(JSON.stringify({ id, method, params }));
    const { error, message, result } = await answered;
    if (error !== undefined) throw new Error(`${method}: ${error}: ${message}`);
    return result;
  }

  #receive({ id, method, params, ...reply }: Reply): void {
    if (id !== undefined) this.#answers.get(id)?.(reply);
    else if (method === "log.entryAdded" && params?.level === "error") this.faults.push(params.text ?? "");
  }
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk;
      const [, url] = LISTENING.exec(said) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", (code) => reject(new Error(`Firefox ended with ${code}: ${said}`)));
    setTimeout(() => reject(new Error(`Firefox does not listen: ${said}`)), STARTED_WITHIN_MS).unref();
  });
}
