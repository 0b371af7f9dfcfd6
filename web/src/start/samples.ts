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
  /** Whether it stores a memory before it recalls. */
  readonly stores: boolean;
}

export interface Sample {
  readonly name: string;
  /** Requirements on the user's machine, as sentences. */
  readonly needs: string;
  readonly code: string;
}

const TEXT = "Ada moved to Lisbon in May and works from a small studio near the river.";
const QUERY = "Where does Ada live?";

/** Samples that store one memory, if the key may, and recall it. Each works when pasted into a shell. */
export function samplesOf(filling: Filling): readonly Sample[] {
  return [
    { name: "curl", needs: "Paste it into a terminal.", code: curl(filling) },
    {
      name: "TypeScript",
      needs: "This needs Node.js 20 or newer. It creates a folder and installs Connect's client in it.",
      code: typeScript(filling),
    },
    { name: "Python", needs: "This needs only Python 3.8 or newer.", code: python(filling) },
    {
      name: "gRPC",
      needs: "This runs buf through npx, which reads the contract by the server's reflection.",
      code: grpc(filling),
    },
  ];
}

/** Quotes a text as one word of a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function curlOf({ url, key }: Access, path: string, body: object): string {
  return [
    `curl -sS ${shellQuote(`${url}${path}`)}`,
    `  -H ${shellQuote(`Authorization: Bearer ${key}`)}`,
    "  -H 'Content-Type: application/json'",
    `  -d ${shellQuote(JSON.stringify(body))}`,
  ].join(" \\\n");
}

function curl(filling: Filling): string {
  const { namespace, stores } = filling;
  const store = ["# Remember something", `${curlOf(filling, "/store", { text: TEXT, namespace })}; echo`, ""];
  return [
    ...(stores ? store : []),
    stores ? "# Ask for it in other words" : "# Ask in plain words",
    `${curlOf(filling, "/recall", { query: QUERY, namespace })}; echo`,
  ].join("\n");
}

function typeScript({ url, key, namespace, stores }: Filling): string {
  const place = `namespace: ${JSON.stringify(namespace)}`;
  const store = stores ? `await memory.store({ text: "${TEXT}", ${place} });\n` : "";
  return `mkdir -p recalld-quickstart && cd recalld-quickstart
npm init -y >/dev/null && npm pkg set type=module
npm install --silent @connectrpc/connect@2 @connectrpc/connect-node@2 @bufbuild/protobuf@2
curl -s -o recalld.js ${shellQuote(`${url}/recalld.js`)}
cat > quickstart.ts <<'END'
import { createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { MemoryService } from "./recalld.js";

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

${store}const { results } = await memory.recall({ query: "${QUERY}", ${place} });
for (const { score, text } of results) console.log(score.toFixed(3), text);
END
npx -y tsx quickstart.ts`;
}

function python({ url, key, namespace, stores }: Filling): string {
  // A string of JSON is one of Python, too.
  const place = `"namespace": ${JSON.stringify(namespace)}`;
  const store = stores ? `call("/store", {"text": "${TEXT}", ${place}})\n` : "";
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

${store}answer = call("/recall", {"query": "${QUERY}", ${place}})
for result in answer["results"]:
    print(round(result["score"], 3), result["text"])
END`;
}

function grpc({ url, key, namespace, stores }: Filling): string {
  // Without TLS, the two sides cannot negotiate HTTP/2, so the client must choose it.
  const plain = url.startsWith("http:") ? " --http2-prior-knowledge" : "";
  const call = (rpc: string, body: object) =>
    [
      `npx -y @bufbuild/buf curl --protocol grpc${plain}`,
      `  -H ${shellQuote(`Authorization: Bearer ${key}`)}`,
      `  -d ${shellQuote(JSON.stringify(body))}`,
      `  ${shellQuote(`${url}/recalld.v1.MemoryService/${rpc}`)}`,
    ].join(" \\\n");
  const store = stores ? [call("Store", { text: TEXT, namespace })] : [];
  return [...store, call("Recall", { query: QUERY, namespace })].join("\n\n");
}
