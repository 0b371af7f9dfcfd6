import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";

/** Versions of the protocol that the tests speak, by the way in which a client asks for them. */
export const VERSIONS = {
  "2025-11-25": {},
  "2026-07-28": { versionNegotiation: { mode: { pin: "2026-07-28" } } },
} as const;
export type Version = keyof typeof VERSIONS;

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
      } = await client.callTool({ name, arguments: args });
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
