// node scripts/tally.js RESULTS: prints `PASSED FAILED SKIPPED` from Vitest's JSON report, then a line for each failure.
import { readFileSync } from "node:fs";

const { testResults } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const count = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
for (const file of testResults) {
  const failedBefore = count.failed;
  for (const { status, fullName } of file.assertionResults) {
    if (status === "passed" || status === "failed") count[status]++;
    else count.skipped++;
    if (status === "failed") failures.push(`${file.name}: ${fullName}`);
  }
  // A file that could not be loaded, or whose hooks failed, has no failed test of its own.
  if (file.status !== "failed" || count.failed > failedBefore) continue;
  count.failed++;
  failures.push(`${file.name}: ${file.message}`);
}
console.log(count.passed, count.failed, count.skipped);
for (const failure of failures) console.log(failure.split("\n")[0]);
