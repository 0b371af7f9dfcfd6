import { connect, type Socket } from "node:net";

/** Task of a child process at a server on 127.0.0.1, until it is told to stop. */
export type Task =
  /** Recalls with one key at a steady rate. */
  | { readonly kind: "flood"; readonly port: number; readonly key: string; readonly perSecond: number }
  /** Connections that make one call and are idle afterwards. */
  | { readonly kind: "idle"; readonly port: number; readonly connections: number }
  /** Connections in thirds: headers byte by byte, bodies byte by byte, and answers that are not read. */
  | { readonly kind: "slow"; readonly port: number; readonly key: string; readonly connections: number };

/** Results of the task. */
export interface Did {
  /** Calls sent by `flood`, with their answers by HTTP status; for the other tasks, connections opened. */
  readonly sent: number;
  readonly answered: Readonly<Record<string, number>>;
  /** Number of connections that were open at the end. */
  readonly open: number;
}

const TICK_MS = 20;
const FLOOD_CONNECTIONS = 32;
/** Maximum waiting calls of a connection. The server ends connections with more than its limit. */
const WAITING_MAX = 4;
/** Number of connections begun in one tick. */
const OPEN_MANY = 25;
const BYTE_MS = 500;
/** Number of answers of some 100 KB that a connection leaves unread, in addition to a page of memories. */
const UNREAD = 6;

let sent = 0;
const answered: Record<string, number> = {};
const open = new Set<Socket>();

function dial(port: number, onData: (text: string) => void = () => {}): Socket {
  const socket = connect(port, "127.0.0.1");
  open.add(socket);
  socket.on("error", () => {});
  socket.once("close", () => open.delete(socket));
  socket.on("data", (chunk: Buffer) => onData(chunk.toString("latin1")));
  return socket;
}

function requestOf(path: string, { key, body }: { key: string; body: string }): string {
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: x",
    "Content-Type: application/json",
    `Authorization: Bearer ${key}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

/** Floods by pipelining over a few connections, which costs this machine little compared with the server. */
function flood({ port, key, perSecond }: Extract<Task, { kind: "flood" }>): void {
  const begin = () => {
    const connection = { waiting: 0, socket: dial(port, (text) => count(text)) };
    const count = (text: string) => {
      for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
        connection.waiting -= 1;
        answered[status as string] = (answered[status as string] ?? 0) + 1;
      }
    };
    return connection;
  };
  const connections = Array.from({ length: FLOOD_CONNECTIONS }, begin);
  let due = 0;
  const beganMs = performance.now();
  setInterval(() => {
    const until = Math.floor(((performance.now() - beganMs) / 1000) * perSecond);
    for (; due < until; due++) {
      const at = due % FLOOD_CONNECTIONS;
      if (connections[at]?.socket.destroyed) connections[at] = begin();
      const connection = connections[at] as ReturnType<typeof begin>;
      if (connection.waiting >= WAITING_MAX) continue;
      const body = JSON.stringify({ query: `flood ${due} of ${process.pid}`, namespace: "n" });
      connection.socket.write(requestOf("/recall", { key, body }));
      connection.waiting += 1;
      sent += 1;
    }
  }, TICK_MS);
}

/** Opens connections a few at a time, and again when they are cut off. */
function keepOpen(connections: number, begin: (n: number) => void): Promise<void> {
  let begun = 0;
  return new Promise((resolve) => {
    setInterval(() => {
      for (let i = 0; i < OPEN_MANY && open.size < connections; i++, sent++) begin(begun++);
      if (open.size >= connections) resolve();
    }, TICK_MS);
  });
}

function idle({ port, connections }: Extract<Task, { kind: "idle" }>): Promise<void> {
  return keepOpen(connections, () => void dial(port).write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
}

function slow({ port, key, connections }: Extract<Task, { kind: "slow" }>): Promise<void> {
  const trickle = (socket: Socket, byte: string) => {
    const timer = setInterval(() => socket.write(byte), BYTE_MS);
    socket.once("close", () => clearInterval(timer));
  };
  const begin = [
    () => {
      const socket = dial(port);
      socket.write("GET /livez HTTP/1.1\r\nX-Slow: ");
      trickle(socket, "a");
    },
    () => {
      const socket = dial(port);
      socket.write(requestOf("/recall", { key, body: " ".repeat(1_000) }).slice(0, -999));
      trickle(socket, " ");
    },
    () => {
      const socket = dial(port).pause();
      const body = JSON.stringify({ namespace: "n", page_size: 100 });
      socket.write(requestOf("/recalld.v1.MemoryService/ListMemories", { key, body }));
      socket.write("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(UNREAD));
    },
  ];
  return keepOpen(connections, (n) => begin[n % begin.length]?.());
}

const TASKS: { [K in Task["kind"]]: (task: Extract<Task, { kind: K }>) => Promise<void> | void } = {
  flood,
  idle,
  slow,
};

process.on("message", () => {
  process.send?.({ sent, answered, open: open.size } satisfies Did, () => process.exit(0));
});
process.once("disconnect", () => process.exit(0));
const task = JSON.parse(process.argv[2] as string) as Task;
await (TASKS[task.kind] as (task: Task) => Promise<void> | void)(task);
process.send?.("ready");
