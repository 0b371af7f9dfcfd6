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
      needs:
        "This needs Node.js 20 or newer. It creates a folder and installs @recalld/client in it, from this server.",
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

export function curlOf({ url, key }: Access, path: string, body: object): string {
  return callOf(url, shellQuote(`Authorization: Bearer ${key}`), path, JSON.stringify(body));
}

function callOf(url: string, quotedHeader: string, path: string, json: string): string {
  return [
    `curl -sS ${shellQuote(`${url}${path}`)}`,
    `  -H ${quotedHeader}`,
    "  -H 'Content-Type: application/json'",
    `  -d ${shellQuote(json)}`,
  ].join(" \\\n");
}

/** Header of a sample that has the key in a variable, so that its lines stay short. */
const HEADER = '"Authorization: Bearer $KEY"';

function keyAs(key: string): string {
  return `KEY=${shellQuote(key)}`;
}

function curl({ url, key, namespace, stores }: Filling): string {
  const call = (path: string, json: string) => `${callOf(url, HEADER, path, json)}; echo`;
  const store = ["# Remember four things", call("/store/batch", batchOf(namespace)), ""];
  return [
    keyAs(key),
    "",
    ...(stores ? store : []),
    stores ? "# Ask in other words" : "# Ask in plain words",
    call("/recall", recallOf(namespace, stores)),
  ].join("\n");
}

/** Writes the request that stores the story, two short lines for each memory. */
function batchOf(namespace: string): string {
  const memories = Object.entries(STORY).map(
    ([id, text]) => `  {"external_id": ${JSON.stringify(id)}, "on_conflict": "KEEP",
   "text": ${JSON.stringify(text)}}`,
  );
  return `{"namespace": ${JSON.stringify(namespace)}, "memories": [\n${memories.join(",\n")}\n]}`;
}

function recallOf(namespace: string, stores: boolean): string {
  return `{"query": ${JSON.stringify(questionOf(stores))},
  "namespace": ${JSON.stringify(namespace)}}`;
}

/** Writes the story as an object, which is one in JavaScript and in Python alike. */
function storyAs(name: string): string {
  const lines = Object.entries(STORY).map(
    ([id, text]) => `    ${JSON.stringify(id)}: ${JSON.stringify(text)},`,
  );
  return `${name} = {\n${lines.join("\n")}\n}`;
}

function typeScript({ url, key, namespace, stores }: Filling): string {
  const namespaceField = `namespace: ${JSON.stringify(namespace)}`;
  const store = `${storyAs("const story")};
const memories = Object.entries(story).map(([externalId, text]) => {
  return { externalId, text, onConflict: "KEEP" as const };
});
await recalld.storeBatch({ ${namespaceField}, memories });

`;
  return `mkdir -p recalld-quickstart && cd recalld-quickstart
npm init -y >/dev/null && npm pkg set type=module
npm install --silent ${shellQuote(`${url}/recalld-client.tgz`)}
cat > quickstart.ts <<'END'
import { Recalld } from "@recalld/client";

const recalld = new Recalld({
  apiKey: "${key}",
  baseUrl: "${url}",
});

${stores ? store : ""}const { results } = await recalld.recall({
  query: "${questionOf(stores)}",
  ${namespaceField},
});
for (const { score, text } of results) console.log(score.toFixed(3), text);
END
npx -y tsx quickstart.ts`;
}

function python({ url, key, namespace, stores }: Filling): string {
  // A string of JSON is one of Python, too.
  const namespaceField = `"namespace": ${JSON.stringify(namespace)}`;
  const store = `${storyAs("story")}
memories = [
    {"external_id": id, "on_conflict": "KEEP", "text": text}
    for id, text in story.items()
]
call("/store/batch", {"memories": memories, ${namespaceField}})

`;
  return `python3 - <<'END'
import json, urllib.request

URL = "${url}"
KEY = "${key}"

def call(path, body):
    request = urllib.request.Request(
        URL + path,
        data=json.dumps(body).encode(),
        headers={
            "Authorization": "Bearer " + KEY,
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)

${stores ? store : ""}question = "${questionOf(stores)}"
answer = call("/recall", {"query": question, ${namespaceField}})
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
      `  -H ${HEADER}`,
      `  -d ${shellQuote(json)}`,
      `  ${shellQuote(`${url}/recalld.v1.MemoryService/${rpc}`)}`,
    ].join(" \\\n");
  const store = stores ? [call("StoreBatch", batchOf(namespace))] : [];
  return [keyAs(key), ...store, call("Recall", recallOf(namespace, stores))].join("\n\n");
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
