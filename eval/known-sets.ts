/**
 * Sets whose figures others publish, under the names that they use. Their scopes are searched apart and, for
 * the comparison, in one namespace.
 */
export const BENCHMARKS: Readonly<Record<string, string>> = {
  "longmemeval-s-user": "LongMemEval-S",
  locomo: "LoCoMo",
};

/** Groups of known sets, in the order of the page. Other sets come last. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "Conversations and personal memories": [
    "locomo",
    "locomo-observations",
    "longmemeval-s-user",
    "longmemeval-oracle-pool",
    "madial-bench",
    "prefeval",
  ],
  "Questions to passages and answers": [
    "squad-sentence",
    "squad-paragraph",
    "disfl-qa",
    "qed-nq",
    "medquad-faq",
    "liveqa-med",
    "dstc11-snippets",
    "dstc10-spoken-faq",
    "mtrag-un",
    "pubmedqa",
  ],
  "Claims, abstracts and duplicates": [
    "scifact",
    "climate-fever-sent",
    "quora-duplicates",
    "cranfield",
    "cisi",
    "vaswani-npl",
  ],
  "Intents (an utterance to others of the same intent)": ["banking77", "clinc150", "hwu64"],
};
const OTHERS = "Others";

/** Lists the groups that have one of these sets, each with its sets, in the page's order. */
export function grouped(names: readonly string[]): (readonly [group: string, names: string[]])[] {
  const known = Object.values(GROUPS).flat();
  const all = { ...GROUPS, [OTHERS]: names.filter((name) => !known.includes(name)) };
  return Object.entries(all)
    .map(([group, sets]) => [group, sets.filter((name) => names.includes(name))] as const)
    .filter(([, sets]) => sets.length > 0);
}
