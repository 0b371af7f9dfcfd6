import type { Language } from "../code/language.js";
import { questionOf, STORY } from "./story.js";

/** Namespace of the samples, unless the key is for another one. */
export const NAMESPACE = "quickstart";

/** Place and key of a call. */
export interface Access {
  /** Address of the service, without a slash at the end. */
  readonly url: string;
  readonly key: string;
}

/** Values that fill in a sample. */
export interface Filling extends Access {
  readonly namespace: string;
  /** Whether it stores memories before it recalls. */
  readonly stores: boolean;
}

export interface Sample {
  readonly name: string;
  /** Requirements on the user's machine, as sentences. */
  readonly needs: string;
  readonly code: string;
  /** Language of the code; a shell's, where that runs the program in it, may surround it. */
  readonly language: Language;
}

/**
 * Samples that store the story's memories, if the key may, and ask about them. Each works when pasted into a
 * shell. The memories have ids of their own, so that a sample that is run again leaves no copies.
 */
export function samplesOf(filling: Filling): readonly Sample[] {
  return [
    { name: "curl", needs: "Paste it into a terminal.", code: curl(filling), language: "bash" },
    {
      name: "TypeScript",
      needs: "This needs Node.js 20 or newer. It creates a folder and installs Connect's client in it.",
      code: typeScript(filling),
      language: "typescript",
    },
    {
      name: "Python",
      needs: "This needs only Python 3.8 or newer.",
      code: python(filling),
      language: "python",
    },
    {
      name: "gRPC",
      needs: "This runs buf through npx, which reads the contract by the server's reflection.",
      code: grpc(filling),
      language: "bash",
    },
    {
      name: "MCP",
      needs:
        "Paste it into an agent's settings: .mcp.json of Claude Code, or mcp.json of Cursor. The docs have the lines for others. The agent then stores and recalls by itself.",
      code: mcp(filling),
      language: "json",
    },
  ];
}

/** Quotes a text as one word of a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function curlOf(access: Access, path: string, body: object): string {
  return callOf(access, path, JSON.stringify(body));
}

function callOf({ url, key }: Access, path: string, json: string): string {
  return [
    `curl -sS ${shellQuote(`${url}${path}`)}`,
    `  -H ${shellQuote(`Authorization: Bearer ${key}`)}`,
    "  -H 'Content-Type: application/json'",
    `  -d ${shellQuote(json)}`,
  ].join(" \\\n");
}

function curl(filling: Filling): string {
  const { namespace, stores } = filling;
  const call = (path: string, json: string) => `${callOf(filling, path, json)}; echo`;
  const store = ["# Remember four things", call("/store/batch", batchOf(namespace)), ""];
  const query = JSON.stringify({ query: questionOf(stores), namespace });
  return [
    ...(stores ? store : []),
    stores ? "# Ask in other words" : "# Ask in plain words",
    call("/recall", query),
  ].join("\n");
}

/** Writes the request that stores the story, a line for each memory. */
function batchOf(namespace: string): string {
  const memories = Object.entries(STORY).map(
    ([id, text]) => `  ${JSON.stringify({ external_id: id, on_conflict: "KEEP", text })}`,
  );
  return `{"namespace": ${JSON.stringify(namespace)}, "memories": [\n${memories.join(",\n")}\n]}`;
}

/** Writes the story as an object, which is one in JavaScript and in Python alike. */
function storyAs(name: string): string {
  const lines = Object.entries(STORY).map(
    ([id, text]) => `    ${JSON.stringify(id)}: ${JSON.stringify(text)},`,
  );
  return `${name} = {\n${lines.join("\n")}\n}`;
}

function typeScript({ url, key, namespace, stores }: Filling): string {
  const place = `namespace: ${JSON.stringify(namespace)}`;
  const imports = stores ? "MemoryService, StoreRequest_OnConflict" : "MemoryService";
  const store = `${storyAs("const story")};
const onConflict = StoreRequest_OnConflict.KEEP;
const memories = Object.entries(story).map(([externalId, text]) => ({ externalId, text, onConflict }));
await memory.storeBatch({ ${place}, memories });
`;
  return `mkdir -p recalld-quickstart && cd recalld-quickstart
npm init -y >/dev/null && npm pkg set type=module
npm install --silent @connectrpc/connect@2 @connectrpc/connect-node@2 @bufbuild/protobuf@2
curl -s -O ${shellQuote(`${url}/recalld.js`)} -O ${shellQuote(`${url}/recalld.d.ts`)}
cat > quickstart.ts <<'END'
import { createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { ${imports} } from "./recalld.js";

const withKey: Interceptor = (next) => (request) => {
  request.header.set("Authorization", "Bearer ${key}");
  return next(request);
};
const transport = createConnectTransport({
  baseUrl: "${url}",
  httpVersion: "1.1",
  interceptors: [withKey],
});
const memory = createClient(MemoryService, transport);

${stores ? store : ""}const { results } = await memory.recall({ query: "${questionOf(stores)}", ${place} });
for (const { score, text } of results) console.log(score.toFixed(3), text);
END
npx -y tsx quickstart.ts`;
}

function python({ url, key, namespace, stores }: Filling): string {
  // A string of JSON is one of Python, too.
  const place = `"namespace": ${JSON.stringify(namespace)}`;
  const store = `${storyAs("story")}
memories = [{"external_id": id, "on_conflict": "KEEP", "text": text} for id, text in story.items()]
call("/store/batch", {"memories": memories, ${place}})
`;
  return `python3 - <<'END'
import json, urllib.request

def call(path, body):
    request = urllib.request.Request(
        "${url}" + path,
        data=json.dumps(body).encode(),
        headers={
            "Authorization": "Bearer ${key}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)

${stores ? store : ""}answer = call("/recall", {"query": "${questionOf(stores)}", ${place}})
for result in answer["results"]:
    print(f"{result['score']:.3f}", result["text"])
END`;
}

function grpc({ url, key, namespace, stores }: Filling): string {
  // Without TLS, the two sides cannot negotiate HTTP/2, so the client must choose it.
  const plain = url.startsWith("http:") ? " --http2-prior-knowledge" : "";
  const call = (rpc: string, json: string) =>
    [
      `npx -y @bufbuild/buf curl --protocol grpc${plain}`,
      `  -H ${shellQuote(`Authorization: Bearer ${key}`)}`,
      `  -d ${shellQuote(json)}`,
      `  ${shellQuote(`${url}/recalld.v1.MemoryService/${rpc}`)}`,
    ].join(" \\\n");
  const store = stores ? [call("StoreBatch", batchOf(namespace))] : [];
  return [...store, call("Recall", JSON.stringify({ query: questionOf(stores), namespace }))].join("\n\n");
}

/** Writes the settings of an agent that keeps its memories in the namespace. */
function mcp({ url, key, namespace }: Filling): string {
  const server = {
    type: "http",
    url: `${url}/mcp?namespace=${encodeURIComponent(namespace)}`,
    headers: { Authorization: `Bearer ${key}` },
  };
  return JSON.stringify({ mcpServers: { recalld: server } }, undefined, 2);
}
