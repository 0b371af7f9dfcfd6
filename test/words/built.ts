/** Exports the word indexes as they were compiled, because their thread's file exists only there. */
export { openWords } from "../../dist/src/words/open.js";
