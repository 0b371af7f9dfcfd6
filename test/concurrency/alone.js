import { WorkerClient } from "../../dist/src/concurrency/worker-client.js";

// A program in which nothing but a pending call keeps the process alive.
const client = new WorkerClient({ script: new URL("./worker.js", import.meta.url), name: "test" });
process.stdout.write(`${await client.call("after", { ms: 200 })}`);
