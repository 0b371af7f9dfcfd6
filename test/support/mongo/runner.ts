import { type RunnerTestSuite, TestRunner } from "vitest";

/**
 * Runs the tests whose names say MongoDB: the others of their files are the quick tests', and would start their
 * servers a second time.
 */
export default class MongoRunner extends TestRunner {
  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    if (suite === suite.file) narrow(suite, false);
    await super.onBeforeRunSuite(suite);
  }
}

/** Skips what has no MongoDB in its name, nor in that of what it is in. */
function narrow(suite: RunnerTestSuite, named: boolean): void {
  for (const task of suite.tasks) {
    const isNamed = named || /mongo/i.test(task.name);
    if (task.type === "suite") narrow(task, isNamed);
    else if (!isNamed) task.mode = "skip";
  }
  if (suite.tasks.every(({ mode }) => mode === "skip" || mode === "todo")) suite.mode = "skip";
}
