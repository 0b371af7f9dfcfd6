// Worker threads run compiled code only, which `npm test` compiles first.
export { openUsearch } from "../../../dist/src/index/vectors/usearch.js";
