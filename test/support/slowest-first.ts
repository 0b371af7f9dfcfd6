import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The tests that take longest, half a minute and more beside others, the slowest first. */
const SLOWEST = [
  "e2e/reembed",
  "e2e/rolling",
  "browser/accessible",
  "e2e/killed",
  "clients/python",
  "e2e/admin",
  "simulation/planted",
  "deploy/from-an-empty-folder",
  "e2e/remote-model",
  "e2e/mcp-stdio",
  "e2e/backup",
  "browser/oauth",
  "browser/portal",
  "e2e/command-line",
  "browser/session",
  "e2e/model",
  "e2e/replicas",
  "bench/soak",
  "e2e/batch",
  "e2e/durability",
  "e2e/every-protocol",
  "e2e/limits",
  "e2e/key-scopes",
  "e2e/watching",
  "embedding/remote",
  "vectors/filtered",
  "e2e/long-texts",
  "embedding/long-texts",
  "e2e/filters",
  "e2e/tracing",
  "e2e/drain-notice",
  "simulation/simulation",
  "e2e/log",
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
