import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { VERSION } from "../../dist/src/version.js";
import { signUp } from "../../test/clients/sign-up.js";
import { freePort } from "../../test/support/free-port.js";
import { connect, startSession, type Tools } from "../../test/support/mcp.js";
import { startServer } from "../../test/support/server.js";
import { CannotRunError, post, pythonPrograms, startProgram } from "./programs.js";
import type { Service, Workspace } from "./service.js";

const NAMESPACE = "bench";
const TOP_K = 5;
const SERVER_MEMORY = "@modelcontextprotocol/server-memory";
const SERVER_MEMORY_VERSION = "2026.8.31";

/** Services by the names of the command line. */
export const SERVICES: Readonly<Record<string, (workspace: Workspace) => Promise<Service>>> = {
  recalld: openRecalld,
  "recalld-mcp": openRecalldMcp,
  "mcp-memory-service": openMcpMemoryService,
  chroma: openChroma,
  "basic-memory": openBasicMemory,
  "server-memory": openServerMemory,
};

async function startRecalld() {
  const server = await startServer({ env: { FREE_CALLS: "1000000000", LOG_LEVEL: "warn" } });
  return { server, key: await signUp(server.url) };
}

async function openRecalld(): Promise<Service> {
  const { server, key } = await startRecalld();
  const headers = { authorization: `Bearer ${key}` };
  return {
    name: "recalld",
    version: VERSION,
    called: "HTTP",
    finds: "by meaning",
    store: async (text) => {
      const { id } = await post<{ id: string }>(
        `${server.url}/store`,
        { namespace: NAMESPACE, text },
        headers,
      );
      return id;
    },
    recall: async (query) => {
      const body = { namespace: NAMESPACE, query, top_k: TOP_K };
      const { results } = await post<{ results: { id: string }[] }>(`${server.url}/recall`, body, headers);
      return results.map(({ id }) => id);
    },
    stop: async () => {
      await server.stop();
    },
  };
}

async function openRecalldMcp({ folder }: Workspace): Promise<Service> {
  const { server, key } = await startRecalld();
  const tools = await startSession({ HOME: folder, RECALLD_URL: server.url, RECALLD_API_KEY: key });
  return {
    name: "recalld",
    version: VERSION,
    called: "MCP, stdio",
    finds: "by meaning and words",
    store: async (text) => (await call(tools, "memory_store", { namespace: NAMESPACE, text })).data.id,
    recall: async (query) => {
      const { data } = await call(tools, "memory_recall", { namespace: NAMESPACE, query, top_k: TOP_K });
      return (data.memories as { id: string }[]).map(({ id }) => id);
    },
    stop: async () => {
      await tools.client.close();
      await server.stop();
    },
  };
}

/** A memory of mcp-memory-service, which its hash identifies. */
interface Hashed {
  readonly content_hash: string;
}

async function openMcpMemoryService(workspace: Workspace): Promise<Service> {
  const programs = pythonPrograms("mcp-memory-service", workspace, {
    code: "import sqlite3, sys; assert sys.version_info >= (3, 10); sqlite3.connect('').enable_load_extension(True)",
    words: "Python 3.10 or newer whose sqlite3 loads extensions",
  });
  const dataDir = join(workspace.folder, "mcp-memory-service");
  mkdirSync(dataDir);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/api`;
  const stop = await startProgram(join(programs, "memory"), {
    args: ["server", "--http", "--http-port", String(port)],
    env: {
      MCP_ALLOW_ANONYMOUS_ACCESS: "true",
      MCP_EXTERNAL_EMBEDDING_MODEL: "bundled",
      MCP_EXTERNAL_EMBEDDING_URL: workspace.embeddings.url,
      MCP_MEMORY_BASE_DIR: dataDir,
      MCP_MEMORY_SQLITE_PATH: join(dataDir, "memories.db"),
      MCP_MEMORY_STORAGE_BACKEND: "sqlite_vec",
    },
    log: `${dataDir}.log`,
    readyUrl: `${url}/health`,
  });
  return {
    name: "mcp-memory-service",
    version: versionOf(programs, "mcp-memory-service"),
    called: "HTTP",
    finds: "by meaning",
    // Its documentation's way to keep texts that resemble each other, as ours do.
    store: async (content) => {
      const body = { content, conversation_id: NAMESPACE };
      return (await post<Hashed>(`${url}/memories`, body)).content_hash;
    },
    recall: async (query) => {
      const body = { query, n_results: TOP_K };
      const { results } = await post<{ results: { memory: Hashed }[] }>(`${url}/search`, body);
      return results.map(({ memory }) => memory.content_hash);
    },
    stop,
  };
}

async function openChroma(workspace: Workspace): Promise<Service> {
  const { embeddings, folder } = workspace;
  const programs = pythonPrograms("chroma", workspace, {
    code: "import sys; assert sys.version_info >= (3, 10)",
    words: "Python 3.10 or newer",
  });
  const port = await freePort();
  const path = join(folder, "chroma");
  const base = `http://127.0.0.1:${port}/api/v2`;
  const stop = await startProgram(join(programs, "chroma"), {
    args: ["run", "--path", path, "--host", "127.0.0.1", "--port", String(port)],
    env: { ANONYMIZED_TELEMETRY: "False" },
    log: `${path}.log`,
    readyUrl: `${base}/heartbeat`,
  });
  const collections = `${base}/tenants/default_tenant/databases/default_database/collections`;
  const configuration = { hnsw: { space: "cosine" } };
  const { id } = await post<{ id: string }>(collections, { name: "bench", configuration });
  let stored = 0;
  return {
    name: "Chroma",
    version: versionOf(programs, "chromadb"),
    called: "HTTP; the caller embeds",
    finds: "by meaning",
    store: async (text) => {
      const own = String(stored++);
      const vectors = [await embeddings.embed(text, "text")];
      await post(`${collections}/${id}/add`, { ids: [own], documents: [text], embeddings: vectors });
      return own;
    },
    recall: async (query) => {
      const vectors = [await embeddings.embed(query, "query")];
      const body = { query_embeddings: vectors, n_results: TOP_K, include: ["documents"] };
      const { ids } = await post<{ ids: [string[]] }>(`${collections}/${id}/query`, body);
      return ids[0];
    },
    stop,
  };
}

async function openBasicMemory(workspace: Workspace): Promise<Service> {
  const programs = pythonPrograms("basic-memory", workspace, {
    code: "import sys; assert sys.version_info >= (3, 12)",
    words: "Python 3.12 or newer",
  });
  const home = join(workspace.folder, "basic-memory");
  mkdirSync(home);
  const tools = await startStdio(join(programs, "basic-memory"), ["mcp"], {
    HOME: home,
    BASIC_MEMORY_HOME: join(home, "notes"),
    BASIC_MEMORY_CONFIG_DIR: join(home, "config"),
    // Its own model comes from Hugging Face at the first start.
    BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED: "false",
  });
  let stored = 0;
  return {
    name: "basic-memory",
    version: versionOf(programs, "basic-memory"),
    called: "MCP, stdio",
    finds: "by words",
    store: async (content) => {
      const title = `Note ${stored++}`;
      await call(tools, "write_note", { title, content, directory: NAMESPACE, project: "main" });
      return title;
    },
    recall: async (query) => {
      const args = { query, project: "main", page_size: TOP_K, output_format: "json" };
      const { text } = await call(tools, "search_notes", args);
      return (JSON.parse(text) as { results: { title: string }[] }).results.map(({ title }) => title);
    },
    stop: () => tools.client.close(),
  };
}

async function openServerMemory({ cache, folder }: Workspace): Promise<Service> {
  const installed = join(cache, "server-memory");
  const program = join(installed, "node_modules/.bin/mcp-server-memory");
  if (!existsSync(program)) {
    mkdirSync(installed, { recursive: true });
    const wanted = `${SERVER_MEMORY}@${SERVER_MEMORY_VERSION}`;
    const { status } = spawnSync("npm", ["install", "--silent", "--prefix", installed, wanted]);
    if (status !== 0) throw new CannotRunError(`npm could not install ${wanted}`);
  }
  const tools = await startStdio(program, [], { MEMORY_FILE_PATH: join(folder, "server-memory.jsonl") });
  let stored = 0;
  return {
    name: SERVER_MEMORY,
    version: SERVER_MEMORY_VERSION,
    called: "MCP, stdio",
    finds: "the whole question as a part of a text",
    store: async (text) => {
      const name = `Memory ${stored++}`;
      await call(tools, "create_entities", {
        entities: [{ name, entityType: "memory", observations: [text] }],
      });
      return name;
    },
    recall: async (query) => {
      const { data } = await call(tools, "search_nodes", { query });
      return (data.entities as { name: string }[]).map(({ name }) => name);
    },
    stop: () => tools.client.close(),
  };
}

function startStdio(command: string, args: string[], env: Record<string, string>): Promise<Tools> {
  const own = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env };
  return connect(new StdioClientTransport({ command, args, env: own, stderr: "ignore" }));
}

async function call(tools: Tools, name: string, args: Record<string, unknown>) {
  const answer = await tools.call(name, args);
  if (answer.isError) throw new Error(`${name}: ${answer.text}`);
  return answer;
}

function versionOf(programs: string, name: string): string {
  const code = `import importlib.metadata as m; print(m.version("${name}"))`;
  return spawnSync(join(programs, "python"), ["-c", code], { encoding: "utf8" }).stdout.trim();
}
