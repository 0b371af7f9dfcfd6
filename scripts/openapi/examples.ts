import type { Schema } from "./schemas.js";

const namespace = "pets";
const id = "mem_01kafz3v2wes8vptq3jbm5yr4x";
const keyId = "key_01kafz3v2wes8vptq3jbm5yr4x";
const account_id = "acc_01kafz2n7teh5b9cxq4w0m8dks";
const text = "The cat sleeps on the warm radiator.";
const metadata = { source: "chat", turn: 7 };
const created_at = "2026-11-21T09:30:00.123Z";
const match = { start: 0, end: text.length };
const etag = '"sQ1bHkTDIyhT4Qx7"';
const memory = { id, text, metadata, tokens: 8, created_at, etag, updated_at: created_at };
// Not a key: its checksum is wrong on purpose.
const api_key = "rcl_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE";
const plan = { plan: "free", calls_limit: 1000, calls_used: 0 };
const key = {
  id: keyId,
  name: "laptop",
  prefix: "rcl_EXAM",
  access: "KEY_ACCESS_FULL",
  namespace: "",
  created_at,
  replaces: "",
  current: false,
  sessions: [],
  client: "",
};

const used = { stores: 1, recalls: 2, tokens_stored: 8, tokens_queried: 12 };
const position = "WyIxMDU2YjM5ZTUxZTQzNTdkYjVjNCIsN10";
const header = {
  format: "recalld-export",
  version: 1,
  model: "recalld/tiny",
  model_revision: "0a1b",
  namespace,
  position,
  exported_at: created_at,
};
const trailer = { count: 1, sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" };

/** A request and its answer for every RPC; a test sends each request that has one answer to a real server. */
export const EXAMPLES: Record<string, { readonly request: Schema; readonly response: Schema | string }> = {
  Store: {
    request: { text, namespace, metadata },
    response: { id, namespace, tokens: 8, created_at },
  },
  StoreBatch: {
    request: { namespace, memories: [{ text, metadata }, { text: "The dog barks." }] },
    response: {
      results: [
        { stored: { id, tokens: 8, created_at } },
        { error: { code: "unavailable", message: "the model is not loaded yet", reason: "" } },
      ],
      namespace,
    },
  },
  Recall: {
    request: { query: "Where does the cat sleep?", namespace, top_k: 3 },
    response: {
      results: [{ id, text, score: 0.79, metadata, created_at, match }],
      namespace,
      query_tokens: 6,
    },
  },
  GetMemory: { request: { namespace, id }, response: { memory, namespace } },
  UpdateMemory: {
    request: { namespace, id, metadata: { turn: 8 }, update_mask: "metadata.turn" },
    response: { memory: { ...memory, metadata: { source: "chat", turn: 8 } }, namespace },
  },
  GetMemories: {
    request: { namespace, ids: [id] },
    response: { memories: [memory], missing: [], namespace, remaining: [] },
  },
  DeleteMemories: {
    request: { namespace, ids: [id] },
    response: { deleted: 1, more: false, samples: [], namespace },
  },
  UpdateMemories: {
    request: { namespace, ids: [id], metadata: { turn: 8 }, remove: ["source"] },
    response: { updated: 1, unchanged: 0, failed: [], next_page_token: "", samples: [], namespace },
  },
  DeleteMemory: { request: { namespace, id }, response: { id } },
  DeleteNamespace: { request: { namespace, force: true }, response: { deleted: 1 } },
  DeleteNamespaces: {
    request: { prefix: "user-42/", dry_run: true },
    response: { deleted: 0, more: false, namespaces: ["user-42/notes"], memories: 1, matched: 1 },
  },
  ListNamespaces: {
    request: { page_size: 50 },
    response: { namespaces: [{ namespace, memories: 1, bytes: "62" }], next_page_token: "" },
  },
  GetNamespace: {
    request: { namespace },
    response: { namespace: { namespace, memories: 1, bytes: "62" }, first: created_at, last: created_at },
  },
  CountMemories: { request: { namespace }, response: { memories: 1, namespace } },
  ListMemories: {
    request: { namespace, page_size: 50 },
    response: { memories: [memory], namespace, next_page_token: "" },
  },
  WatchNamespace: {
    request: { namespace, position },
    response: `event: stored\nid: ${position}\ndata: ${JSON.stringify(memory)}\n\n`,
  },
  ExportMemories: {
    request: { namespace, include_vectors: false },
    response: [header, memory, trailer].map((line) => `${JSON.stringify(line)}\n`).join(""),
  },
  SignUp: {
    request: { email: "ada@example.org" },
    response: { account_id, api_key, ...plan },
  },
  GetAccount: {
    request: {},
    response: {
      account_id,
      email: "ada@example.org",
      ...plan,
      created_at,
      key: { ...key, current: true },
      model: { id: "bundled", languages: ["en"], strong_score: 0.8 },
    },
  },
  GetUsage: {
    request: { days: 1 },
    response: {
      days: [{ date: "2026-11-21", ...used, hours: [{ hour: 9, ...used }] }],
      keys: [{ key_id: keyId, ...used }],
      namespaces: [{ namespace, ...used }],
      since: created_at,
    },
  },
  ListRecentCalls: {
    request: { page_size: 50, errors_only: true, method: "Recall" },
    response: {
      calls: [
        {
          start_time: created_at,
          method: "recalld.v1.MemoryService/Recall",
          protocol: "json",
          key_id: keyId,
          code: "resource_exhausted",
          duration_ms: 0.42,
          request_id: "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
          namespace,
          message: "all 1,000 calls of this account's plan are used",
        },
      ],
      next_page_token: "",
      since: created_at,
    },
  },
  CreateKey: { request: { name: "laptop", access: "KEY_ACCESS_FULL" }, response: { api_key, key } },
  ListKeys: { request: {}, response: { keys: [{ ...key, current: true }] } },
  RevokeKey: { request: { id: keyId, force: false }, response: { id: keyId } },
  CloseAccount: { request: { account_id }, response: { deleted: 1 } },
};
