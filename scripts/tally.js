// node scripts/tally.js RESULTS: prints `PASSED FAILED SKIPPED` from Vitest's JSON report.
import { readFileSync } from "node:fs";

const { testResults } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const count = { passed: 0, failed: 0, skipped: 0 };
for (const file of testResults) {
  const failedBefore = count.failed;
  for (const { status } of file.assertionResults) {
    if (status === "passed" || status === "failed") count[status]++;
    else count.skipped++;
  }
  // A file that could not be loaded, or whose hooks failed, has no failed test of its own.
  if (file.status === "failed" && count.failed === failedBefore) count.failed++;
}
console.log(count.passed, count.failed, count.skipped);
