import { signUp } from "../../support/caller.js";
import { chanceOf } from "../../support/chance.js";
import { Content } from "./model.js";
import { takeStep, type World } from "./steps.js";

const ACCOUNTS = 4;
const NAMESPACES = ["home", "work", "a/b:c%"];
const STEPS = 8;

export interface SequenceOptions {
  readonly urls: readonly string[];
  readonly sequences: number;
  readonly seed: number;
}

export type SequenceFigures = World["figures"];

/**
 * Runs random sequences of all that writes, deletes and reads memories by several accounts at once, each on
 * any server, and compares each step with a simple model.
 *
 * @throws Error naming what was missing, too much or another account's.
 */
export async function randomSequences({ urls, sequences, seed }: SequenceOptions): Promise<SequenceFigures> {
  const world: World = { bait: [], figures: { sequences: 0, operations: 0, recalls: 0 } };
  const run = async (account: number) => {
    const chance = chanceOf(seed * ACCOUNTS + account);
    const caller = await signUp(urls[0] as string);
    const contents = new Map(NAMESPACES.map((name) => [name, new Content()]));
    while (world.figures.sequences < sequences) {
      world.figures.sequences++;
      for (let step = 0; step < STEPS; step++) {
        world.figures.operations++;
        const namespace = chance.pick(NAMESPACES);
        const content = contents.get(namespace) as Content;
        await takeStep({ world, chance, namespace, content, caller: caller.at(chance.pick(urls)) });
      }
    }
  };
  await Promise.all(Array.from({ length: ACCOUNTS }, (_, account) => run(account)));
  return world.figures;
}
