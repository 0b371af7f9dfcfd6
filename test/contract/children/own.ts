/** Opens the given folder when told to, reports the outcome, and holds the folder until it is killed. */
import { openLocal } from "../../../src/storage/local/open.js";

const dataDir = process.argv[2] as string;
console.log("ready");
process.stdin.once("data", () => {
  openLocal({ dataDir }).then(
    () => console.log("owner"),
    (error) => console.log(error.message),
  );
});
