/** What a sample is filled in with. */
export interface Filling {
  /** The service's address, without a slash at its end. */
  readonly url: string;
  readonly key: string;
  readonly namespace: string;
}

export interface Sample {
  readonly name: string;
  /** What it needs on the user's machine. */
  readonly needs: string;
  readonly code: string;
}

const TEXT = "Ada moved to Lisbon in May and works from a small studio near the river.";
const QUERY = "Where does Ada live?";

/** Each stores one memory and recalls it, and works when pasted into a shell. */
export function samplesOf(filling: Filling): readonly Sample[] {
  return [
    { name: "curl", needs: "Paste it into a terminal.", code: curl(filling) },
    {
      name: "TypeScript",
      needs: "Needs Node.js 20 or newer. Makes a folder and installs Connect's client into it.",
      code: typeScript(filling),
    },
    { name: "Python", needs: "Needs Python 3.8 or newer, nothing else.", code: python(filling) },
    {
      name: "gRPC",
      needs: "Uses buf through npx. The contract comes from the server's reflection.",
      code: grpc(filling),
    },
  ];
}

/** A text as one word of a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function curlOf({ url, key }: Filling, path: string, body: object): string {
  return [
    `curl -sS ${shellQuote(`${url}${path}`)}`,
    `  -H ${shellQuote(`Authorization: Bearer ${key}`)}`,
    "  -H 'Content-Type: application/json'",
    `  -d ${shellQuote(JSON.stringify(body))}`,
  ].join(" \\\n");
}

function curl(filling: Filling): string {
  const { namespace } = filling;
  return [
    "# Remember something",
    `${curlOf(filling, "/store", { text: TEXT, namespace })}; echo`,
    "",
    "# Ask for it in other words",
    `${curlOf(filling, "/recall", { query: QUERY, namespace })}; echo`,
  ].join("\n");
}

function typeScript({ url, key, namespace }: Filling): string {
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

await memory.store({ text: "${TEXT}", namespace: "${namespace}" });
const { results } = await memory.recall({ query: "${QUERY}", namespace: "${namespace}" });
for (const { score, text } of results) console.log(score.toFixed(3), text);
END
npx -y tsx quickstart.ts`;
}

function python({ url, key, namespace }: Filling): string {
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

call("/store", {"text": "${TEXT}", "namespace": "${namespace}"})
answer = call("/recall", {"query": "${QUERY}", "namespace": "${namespace}"})
for result in answer["results"]:
    print(round(result["score"], 3), result["text"])
END`;
}

function grpc({ url, key, namespace }: Filling): string {
  // Without TLS the two sides cannot agree on HTTP/2, so it must be known before.
  const plain = url.startsWith("http:") ? " --http2-prior-knowledge" : "";
  const call = (rpc: string, body: object) =>
    [
      `npx -y @bufbuild/buf curl --protocol grpc${plain}`,
      `  -H ${shellQuote(`Authorization: Bearer ${key}`)}`,
      `  -d ${shellQuote(JSON.stringify(body))}`,
      `  ${shellQuote(`${url}/recalld.v1.MemoryService/${rpc}`)}`,
    ].join(" \\\n");
  return [call("Store", { text: TEXT, namespace }), call("Recall", { query: QUERY, namespace })].join("\n\n");
}
