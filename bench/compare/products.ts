import type { SystemId } from "./options.js";
import type { PythonProduct } from "./python-system.js";

/** Systems that a user could take instead, installed and called as their own documentation begins. */
export const PRODUCTS: Readonly<Record<Exclude<SystemId, "recalld">, PythonProduct>> = {
  chroma: {
    id: "chroma",
    inProcess: false,
    description: {
      name: "Chroma",
      called: "its Python client over HTTP to `chroma run`; the client embeds",
      index: "HNSW, its defaults, cosine",
      durable: "loss of power: SQLite, synced",
    },
  },
  pgvector: {
    id: "pgvector",
    inProcess: false,
    description: {
      name: "pgvector",
      called: "psycopg over a socket to PostgreSQL; the client embeds",
      index: "HNSW, its defaults, cosine",
      durable: "loss of power: the write-ahead log, synced",
    },
  },
  "pgvector-http": {
    id: "pgvector-http",
    inProcess: false,
    description: {
      name: "pgvector, same duties",
      called: "JSON over HTTP to a minimal server (uvicorn, asyncpg), which checks a key, counts and embeds",
      index: "HNSW, its defaults, cosine",
      durable: "loss of power: the write-ahead log, synced; calls counted in the last half second do not",
    },
  },
  lancedb: {
    id: "lancedb",
    inProcess: true,
    // Its exact scans are slow among many rows, and must not take the time of all others.
    secondsMax: 1,
    description: {
      name: "LanceDB",
      called: "in the caller's process, which embeds",
      index: "none: exact, as it advises up to 100,000 rows",
      durable: "the end of its process, not loss of power: it syncs nothing",
    },
  },
};
