import { it } from "vitest";

/** True in the tests of `npm test`, which have a part of what is long. */
export const QUICK = process.env.QUICK !== undefined;

/** Like `it`, for tests that `npm test` has whole, in files of which `npm run test:all` runs the rest. */
export const quickly = it.runIf(QUICK) as typeof it;
