import type { Searcher } from "./searcher.js";

/** Two texts whose score differs from what a reader would say. */
export interface Pitfall {
  readonly kind: string;
  readonly stored: string;
  readonly asked: string;
  /** Judgement of a reader about the two. */
  readonly truth: string;
}

/** Scores in the order of `PITFALLS`. */
export type PitfallScores = readonly number[];

const LONG =
  "We met at nine in the small office on the second floor. Priya showed the new colours for the web shop and most of us liked the green ones. The printer was broken again, so there were no handouts. Jonas asked whether the summer party could be moved to July, because June is full. Somebody has to call the caterer. Ana is allergic to peanuts. The budget for the trade fair was cut by a tenth, and we will share the stand with the people from Bremen. Marketing wants two more photographs of the warehouse. Lunch was late. In the afternoon we went through the open tickets, closed eleven of them and moved the rest to next week.";

/** Sentences of our own, which docs/quality.md shows with their scores. */
export const PITFALLS: readonly Pitfall[] = [
  pitfall("Negation", "Ana eats peanuts.", "Ana does not eat peanuts.", "opposite"),
  pitfall("Negation", "The contract was signed.", "The contract was never signed.", "opposite"),
  pitfall(
    "Negation",
    "I want to be called by my first name.",
    "I do not want to be called by my first name.",
    "opposite",
  ),
  pitfall("Antonyms", "The shop opens at nine.", "The shop closes at nine.", "different"),
  pitfall("Antonyms", "He loves spicy food.", "He hates spicy food.", "opposite"),
  pitfall("Who did it", "Maria lent Tom 50 euros.", "Tom lent Maria 50 euros.", "opposite"),
  pitfall("Numbers", "The invoice is over 1,200 euros.", "The invoice is over 9,200 euros.", "different"),
  pitfall("Numbers", "Her flight leaves at 7:15.", "Her flight leaves at 17:45.", "different"),
  pitfall("Numbers", "The meeting lasts ninety minutes.", "The meeting takes one and a half hours.", "same"),
  pitfall("Names", "Anna Schmidt is our dentist.", "Anne Schmitt is our dentist.", "different"),
  pitfall("Names", "The key is with Mr. Okafor.", "The key is with Ms. Lindqvist.", "different"),
  pitfall("Short texts", "Yes.", "No.", "opposite"),
  pitfall("Short texts", "ok", "Agreed.", "same"),
  pitfall("Short texts", "Bank", "river bank", "unclear"),
  pitfall(
    "Question and answer",
    "Ana is allergic to peanuts.",
    "Which foods should Ana avoid?",
    "answers it",
  ),
  pitfall(
    "Question and answer",
    "Which foods should Ana avoid?",
    "What must Ana not eat?",
    "same, no answer",
  ),
  pitfall("Other languages", "Ana is allergic to peanuts.", "Ana ist allergisch gegen Erdnüsse.", "same"),
  pitfall(
    "Other languages",
    "The meeting was moved to Friday.",
    "La reunión se ha pasado al viernes.",
    "same",
  ),
  pitfall("Other languages", "Der Zug hat Verspätung.", "Der Hund hat Hunger.", "different"),
  pitfall("Long texts", LONG, "Ana is allergic to peanuts.", "says so"),
  pitfall("Long texts", LONG, "Who has a food allergy?", "answers it"),
];

/**
 * Scores the sentences.
 *
 * @throws Error when one of them is refused.
 */
export async function measurePitfalls(searcher: Required<Searcher>): Promise<PitfallScores> {
  const pairs = PITFALLS.map(({ stored, asked }, i) => ({
    id: String(i),
    sentence1: asked,
    sentence2: stored,
    gold: 0,
  }));
  const scores = await searcher.similarities("pitfalls", pairs, () => {});
  return scores.map((score, i) => {
    if (score === undefined) throw new Error(`not stored: ${PITFALLS[i]?.stored}`);
    return score;
  });
}

function pitfall(kind: string, stored: string, asked: string, truth: string): Pitfall {
  return { kind, stored, asked, truth };
}
