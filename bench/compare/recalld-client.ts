import { Agent, request } from "node:http";

/** Calls a server with one key, over connections that are kept. */
export class RecalldClient {
  readonly #agent = new Agent({ keepAlive: true });
  key = "";

  constructor(private readonly port: number) {}

  /**
   * Sends a call.
   *
   * @throws Error with the server's answer when that is not 200.
   */
  post(path: string, body: object): Promise<Record<string, unknown>> {
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (this.key) headers.authorization = `Bearer ${this.key}`;
    return new Promise((resolve, reject) => {
      const options = { port: this.port, path, method: "POST", agent: this.#agent, headers };
      const call = request(options, (response) => {
        let answer = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => (answer += chunk));
        response.on("end", () => {
          if (response.statusCode === 200) resolve(JSON.parse(answer));
          else reject(new Error(`${path}: ${answer}`));
        });
      });
      call.on("error", reject).end(JSON.stringify(body));
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
