import { parentPort } from "node:worker_threads";
import { toPlane } from "./pca.js";

/** The thread that lays vectors out: messages are answered in the order they came. */
parentPort?.on("message", (request: Parameters<typeof toPlane>[0]) => {
  parentPort?.postMessage(toPlane(request));
});
