import { connect, createServer, type Server, type Socket } from "node:net";

/** Fate of the answer on one connection. */
export type Fate =
  /** It passes. */
  | "pass"
  /** It is lost whole: the connection is reset when the answer's first byte comes. */
  | "lost"
  /** It is reset in its middle. */
  | "halved";

export interface LosingProxy {
  readonly url: string;
  /** Connections that came. */
  readonly count: () => number;
  /** Resets all connections that are open. */
  reset(): void;
  close(): Promise<void>;
}

/** Opens a port that passes everything on to a server, and loses answers as told, one fate a connection. */
export async function openProxy(port: number, fates: readonly Fate[] = []): Promise<LosingProxy> {
  const open = new Set<Socket>();
  let count = 0;
  const server = createServer((caller) => {
    const fate = fates[count++] ?? "pass";
    const upstream = connect({ port, host: "127.0.0.1" });
    for (const socket of [caller, upstream]) {
      open.add(socket);
      // A reset is what these tests are for.
      socket.on("error", () => {});
      socket.on("close", () => {
        open.delete(socket);
        caller.destroy();
        upstream.destroy();
      });
    }
    caller.pipe(upstream);
    if (fate === "pass") upstream.pipe(caller);
    else
      upstream.once("data", (answer: Buffer) => {
        if (fate === "lost") caller.resetAndDestroy();
        // After the headers and a part of the body.
        else caller.write(answer.subarray(0, answer.length - 10), () => caller.resetAndDestroy());
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const reset = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    count: () => count,
    reset,
    close: () => {
      reset();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}
