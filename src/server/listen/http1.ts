import type { Server, ServerOptions } from "node:http";
import type { Socket } from "node:net";
import type { OnePortLimits } from "./one-port-limits.js";

/** Time between Node's checks of its HTTP/1 timeouts; with its default of 30 s the timeouts mean little. */
const TIMEOUT_CHECK_MS = 1000;

/** Options of the HTTP/1 server. */
export function http1Options(limits: OnePortLimits): ServerOptions {
  return {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // Node's own answer would have no body: the handler of requests refuses those without a host.
    requireHostHeader: false,
    maxHeaderSize: limits.headerBytesMax,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  };
}

/**
 * Removes and returns the listener with which Node turns a socket into an HTTP/1 connection. A second server
 * that never listens could be given the sockets instead, but Node would not enforce its timeouts.
 */
export function takeConnectionListener(server: Server): (socket: Socket) => void {
  const [listener] = server.listeners("connection");
  if (listener === undefined)
    throw new Error("this version of Node accepts HTTP/1 connections in another way");
  server.removeAllListeners("connection");
  return listener as (socket: Socket) => void;
}
