import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { program } from "./program.js";

/** Versions of the protocol that the tests speak, by the way in which a client asks for them. */
export const VERSIONS = {
  "2025-11-25": {},
  "2026-07-28": { versionNegotiation: { mode: { pin: "2026-07-28" } } },
} as const;
export type Version = keyof typeof VERSIONS;

/** Time in which a server starts on a machine that does much else. */
const CALL_TIMEOUT_MS = 120_000;

/** Result of a tool's call, as tests read it. */
export interface Result {
  readonly isError: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly data: any;
}

export interface Tools {
  readonly client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<Result>;
}

/** Connects the protocol's official client. */
export async function connect(transport: Transport, version: Version = "2025-11-25"): Promise<Tools> {
  const client = new Client({ name: "recalld-test", version: "1" }, VERSIONS[version]);
  await client.connect(transport);
  return {
    client,
    call: async (name, args = {}) => {
      const {
        content,
        structuredContent,
        isError = false,
      } = await client.callTool({ name, arguments: args }, { timeout: CALL_TIMEOUT_MS });
      const [first] = content as { text: string }[];
      return { isError: isError === true, text: first?.text ?? "", data: structuredContent };
    },
  };
}

export interface At {
  readonly url: string;
  readonly key?: string;
  readonly headers?: Record<string, string>;
  readonly query?: string;
}

export function overHttp({ url, key, headers = {}, query = "" }: At): Transport {
  const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), {
    requestInit: { headers: { ...authorization, ...headers } },
  });
}

/** Command line, as it is built. */
export const PROGRAM = program("recalld");

/** A session of `recalld mcp`, in a process of its own. */
export interface Session extends Tools {
  readonly transport: StdioClientTransport;
  /** Returns what it wrote to the standard error. */
  readonly log: () => string;
}

/** Starts `recalld mcp` as an agent's program does, with nothing but these settings. */
export async function startSession(
  env: Record<string, string>,
  { version, args = [] }: { version?: Version; args?: string[] } = {},
): Promise<Session> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, "mcp", ...args],
    env: { PATH: process.env.PATH ?? "", ...env },
    stderr: "pipe",
  });
  let text = "";
  transport.stderr?.on("data", (chunk) => (text += chunk));
  return { ...(await connect(transport, version)), transport, log: () => text };
}
