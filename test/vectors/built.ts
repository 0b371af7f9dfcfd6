// Worker threads run compiled code only, which `npm test` builds first.
export { openUsearch } from "../../dist/src/vectors/usearch.js";
