/** Memories of the first steps, by their external ids. */
export const STORY: Readonly<Record<string, string>> = {
  "quickstart-home": "Ada moved to Lisbon in May.",
  "quickstart-food": "Peanuts make her ill.",
  "quickstart-dog": "Her dog Rex hides when it thunders.",
  "quickstart-trip": "She flies to Rome on Friday.",
};

/** Text that answers the question. The two have no word in common, so that only meaning can find it. */
export const ANSWER = STORY["quickstart-dog"];

/** Asks about the story, or, for keys that cannot store it, about whatever there is. */
export function questionOf(stores: boolean): string {
  return stores ? "Which animal fears storms?" : "What is most important to know?";
}
