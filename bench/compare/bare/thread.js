import { parentPort, workerData } from "node:worker_threads";
import { openEncoder } from "../../../dist/src/embedding/encode/encoder.js";

// Embeds the texts that it is sent, one after the other, with nothing around it.

const encoder = await openEncoder(workerData);
let last = Promise.resolve();
parentPort.on("message", (text) => {
  last = last.then(async () => {
    const { vector } = await encoder.encode({ text, field: "query" });
    parentPort.postMessage(vector, [vector.buffer]);
  });
});
parentPort.postMessage("ready");
