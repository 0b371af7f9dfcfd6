import type { ScaleResults } from "../scale/results.js";
import type { Figure } from "./figures.js";
import { count, number } from "./numbers.js";
import type { Results } from "./results.js";
import { table } from "./table.js";
import { TARGETS, type Target, type TargetId } from "./targets.js";

const FIRST_RECALL_MAX_S = 90;
/** Name of the last target's figure in the results of `npm run bench -- scale`. */
const FIRST_RECALL = { phase: "rebuild", what: "first recall, without index files, s" };

/** Writes the targets, a row for each, with a column for each size. */
export function targetsPage({ sizes }: Results, scale: ScaleResults | undefined): string {
  const rows = Object.entries(TARGETS).map(([id, target]: [string, Target]) => {
    const figures = sizes.map(({ targets }) => targets[id as TargetId]);
    return [target.what, limitOf(target), ...figures.map((one) => cell(one, target)), metBy(figures, target)];
  });
  const head = ["What", "Target", ...sizes.map(({ memories }) => count(memories)), "Met"];
  return `Medians of the rounds, by number of memories; in brackets the lowest and the highest round.

${table(head, rows)}
${ofScale(scale)}`;
}

function limitOf({ atMost, atLeast, unit = "" }: Target): string {
  return atMost === undefined ? `at least ${atLeast}${unit}` : `at most ${atMost}${unit}`;
}

function cell(figure: Figure | undefined, { unit = "" }: Target): string {
  if (figure === undefined) return "not measured";
  const { median, lowest, highest } = figure;
  const range = lowest === highest ? "" : ` (${number(lowest)} to ${number(highest)})`;
  return `${number(median)}${unit}${range}`;
}

/** Formats `yes` or `no`, or how often if it differs by size. */
function metBy(figures: readonly (Figure | undefined)[], { atMost, atLeast }: Target): string {
  const measured = figures.filter((figure) => figure !== undefined);
  const met = measured.filter(
    ({ median }) => median <= (atMost ?? median) && median >= (atLeast ?? median),
  ).length;
  if (measured.length === 0) return "not measured";
  if (met === 0) return "no";
  return met === measured.length ? "yes" : `at ${met} of ${measured.length} sizes`;
}

/** Shows the target of another script, which takes too long for every run. */
function ofScale(scale: ScaleResults | undefined): string {
  const found = scale?.figures.find(
    ({ phase, what }) => phase === FIRST_RECALL.phase && what === FIRST_RECALL.what,
  );
  if (scale === undefined || found === undefined)
    return "`npm run bench -- scale` measures the first recall after a restart without index files; it has not been run since its results are kept.\n";
  const what = `First recall after a restart without index files, ${count(scale.memories)} memories`;
  const met = found.value <= FIRST_RECALL_MAX_S ? "yes" : "no";
  const row = [what, `at most ${FIRST_RECALL_MAX_S} s`, `${number(found.value)} s`, met];
  return `By \`npm run bench -- scale\` on ${scale.date}, ${scale.machine}:

${table(["What", "Target", "Measured", "Met"], [row])}`;
}
