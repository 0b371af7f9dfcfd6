import { type Access, type Sample, shellQuote } from "../start/samples.js";
import { type Call, streams, type Values } from "./calls.js";
import { indented, keywords, python, snake, typeScript } from "./literals.js";
import { requestOf } from "./request.js";

/** Methods of the clients, by the calls that they make; those that are iterated over name what they give. */
const METHODS: Readonly<Record<string, readonly [method: string, each?: string]>> = {
  Store: ["store"],
  StoreBatch: ["storeBatch"],
  Recall: ["recall"],
  GetMemory: ["get"],
  GetMemories: ["getMemories"],
  UpdateMemory: ["update"],
  DeleteMemory: ["delete"],
  DeleteMemories: ["deleteMemories"],
  UpdateMemories: ["updateMemories"],
  DeleteNamespace: ["deleteNamespace"],
  DeleteNamespaces: ["deleteNamespaces"],
  GetNamespace: ["getNamespace"],
  CountMemories: ["count"],
  ListNamespaces: ["namespaces", "each"],
  ListMemories: ["memories", "memory"],
  ExportMemories: ["export", "memory"],
  WatchNamespace: ["watch", "event"],
};
/** Fields that Python's client takes as lists of paths. */
const MASKS = new Set(["update_mask", "fields"]);
const NO_CLIENT = "This sample is plain HTTP, and needs no package.";

/** Samples of a call that work as they stand, but for the ids in them. */
export function samplesOf(call: Call, access: Access): readonly Sample[] {
  const plain = call.name in METHODS ? undefined : NO_CLIENT;
  return [
    { name: "curl", needs: "Paste it into a terminal.", code: curl(call, access), language: "bash" },
    {
      name: "TypeScript",
      needs: plain ?? `npm install ${shellQuote(`${access.url}/recalld-client.tgz`)}`,
      code: plain ? byFetch(call, access) : byClient(call, access),
      language: "typescript",
    },
    {
      name: "Python",
      needs: plain ?? "pip install recalld",
      code: plain ? byUrllib(call, access) : byPythonClient(call, access),
      language: "python",
    },
  ];
}

/** Whether the call takes a key. */
function needsKey({ security }: Call): boolean {
  return security?.length !== 0;
}

function curl(call: Call, { url, key }: Access): string {
  const { method, path } = requestOf(call, call.request);
  const { body } = call;
  const usual = body === undefined ? "GET" : "POST";
  const flags = `${streams(call) ? " -N" : ""}${method === usual ? "" : ` -X ${method}`}`;
  return [
    `curl -sS${flags} ${shellQuote(url + path)}`,
    ...(needsKey(call) ? [`  -H ${shellQuote(`Authorization: Bearer ${key}`)}`] : []),
    ...(body ? ["  -H 'Content-Type: application/json'", `  -d ${shellQuote(JSON.stringify(body))}`] : []),
  ].join(" \\\n");
}

function headersOf(call: Call, key: string, body: unknown): Values {
  return {
    ...(needsKey(call) && { Authorization: `Bearer ${key}` }),
    ...(body !== undefined && { "Content-Type": "application/json" }),
  };
}

function byFetch(call: Call, { url, key }: Access): string {
  const { method, path } = requestOf(call, call.request);
  const { body } = call;
  const options = [
    ...(method === "GET" ? [] : [`  method: ${JSON.stringify(method)},`]),
    `  headers: ${indented(typeScript(headersOf(call, key, body), true))},`,
    ...(body ? [`  body: JSON.stringify(${indented(typeScript(body, true))}),`] : []),
  ];
  return `const response = await fetch(${JSON.stringify(url + path)}, {
${options.join("\n")}
});
console.log(response.status, await response.json());`;
}

function byUrllib(call: Call, { url, key }: Access): string {
  const { method, path } = requestOf(call, call.request);
  const { body } = call;
  const options = [
    `    ${JSON.stringify(url + path)},`,
    ...(method === "GET" ? [] : [`    method=${JSON.stringify(method)},`]),
    `    headers=${python(headersOf(call, key, body))},`,
    ...(body ? [`    data=json.dumps(${python(body)}).encode(),`] : []),
  ];
  return `import json
import urllib.request

request = urllib.request.Request(
${options.join("\n")}
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))`;
}

function byClient(call: Call, { url, key }: Access): string {
  const [method = "", each] = METHODS[call.name] ?? [];
  const made = `recalld.${method}(${typeScript(call.request)})`;
  const loop = `for await (const ${each} of ${made})`;
  return `import { Recalld } from "@recalld/client";

const recalld = new Recalld({
  apiKey: ${JSON.stringify(key)},
  baseUrl: ${JSON.stringify(url)},
});
${each === undefined ? `console.log(await ${made});` : loopOf(call, loop, each)}`;
}

function loopOf(call: Call, loop: string, each: string): string {
  if (!isEndless(call)) return `${loop} console.log(${each});`;
  return `${loop} {\n  console.log(${each});\n  break; // Leave this out to go on.\n}`;
}

function byPythonClient(call: Call, { url, key }: Access): string {
  const [method = "", each] = METHODS[call.name] ?? [];
  const values = Object.entries(call.request).map(([name, value]) => [
    name,
    MASKS.has(name) ? String(value).split(",") : value,
  ]);
  const made = `recalld.${snake(method)}(${keywords(Object.fromEntries(values))})`;
  const stop = isEndless(call) ? "\n    break  # Leave this out to go on." : "";
  const code = each === undefined ? `print(${made})` : `for ${each} in ${made}:\n    print(${each})${stop}`;
  return `from recalld import Recalld

with Recalld(api_key=${JSON.stringify(key)}, base_url=${JSON.stringify(url)}) as recalld:
    ${indented(code, "    ")}`;
}

function isEndless({ name }: Call): boolean {
  return name.startsWith("Watch");
}
