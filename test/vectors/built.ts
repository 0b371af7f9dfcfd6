// Worker threads run compiled code only: `npm test` builds it first.
export { openUsearch } from "../../dist/src/vectors/usearch.js";
