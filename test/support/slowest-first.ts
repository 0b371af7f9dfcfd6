import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The tests that take longest, a minute and more, the slowest first. */
const SLOWEST = [
  "e2e/rolling",
  "browser/accessible",
  "deploy/from-an-empty-folder",
  "e2e/reembed",
  "clients/python",
  "e2e/backup",
  "e2e/mcp-stdio",
  "e2e/admin",
  "simulation/planted",
  "e2e/command-line",
  "e2e/killed",
  "e2e/durability",
  "e2e/batch",
  "e2e/limits",
  "simulation/simulation",
  "vectors/filtered",
  "e2e/watching",
  "e2e/long-texts",
  "e2e/every-protocol",
  "e2e/filters",
  "e2e/key-scopes",
  "e2e/log",
  "e2e/drain-notice",
  "e2e/tracing",
  "e2e/tls-files",
];

/** Begins with the slowest tests: the last to begin would keep one core waiting for the other. */
export default class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rankOf = ({ moduleId }: TestSpecification) => {
      const place = SLOWEST.findIndex((name) => moduleId.endsWith(`${name}.test.ts`));
      return place < 0 ? SLOWEST.length : place;
    };
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
