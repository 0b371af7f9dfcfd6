import { parentPort } from "node:worker_threads";
import { toPlane } from "./pca.js";

/** The thread that projects vectors; it answers messages in the order of arrival. */
parentPort?.on("message", (request: Parameters<typeof toPlane>[0]) => {
  parentPort?.postMessage(toPlane(request));
});
