/** Sentences that an assistant might have been told, by subject. Each line is made of its parts. */
const SUBJECTS: readonly (readonly (readonly string[])[])[] = [
  [
    ["Ada", "Grandmother", "The landlord", "My brother", "Dr. Chen"],
    [
      "prefers green tea",
      "drinks espresso",
      "never eats mushrooms",
      "is allergic to peanuts",
      "bakes rye bread",
    ],
    ["in the morning", "after dinner", "since the spring", "on Sundays", "when it rains"],
  ],
  [
    ["The flight", "The night train", "The ferry", "The rental car", "The airport bus"],
    ["to Lisbon is booked", "to Oslo was cancelled", "to Kyoto costs 240 euros", "to Porto leaves at seven"],
    [
      "for the second of May",
      "by the travel agency",
      "from platform nine",
      "with two suitcases",
      "as last year",
    ],
  ],
  [
    [
      "The deploy script",
      "The staging cluster",
      "The login service",
      "The nightly backup",
      "The build server",
    ],
    ["fails with a timeout", "runs out of memory", "was moved to version 4", "needs a new certificate"],
    [
      "since Tuesday",
      "under heavy load",
      "says the on-call engineer",
      "after the rollback",
      "every few hours",
    ],
  ],
  [
    ["The tomatoes", "Two apple trees", "The roses by the fence", "The lavender", "The herb bed"],
    ["need water", "were planted", "bloom early", "have aphids", "must be pruned"],
    ["in April", "before the frost", "this week", "near the shed", "says the gardener"],
  ],
  [
    ["Invoice 1042", "The rent", "The tax return", "The insurance premium", "The electricity bill"],
    ["is due", "was paid", "went up by four percent", "was sent to accounting", "must be checked"],
    ["on the first of the month", "by bank transfer", "before June", "without a reminder", "in full"],
  ],
  [
    ["Maria's cello lesson", "The choir rehearsal", "The piano tuner", "The jazz concert", "The violin exam"],
    ["takes place", "was moved", "starts", "was wonderful", "is planned"],
    [
      "on Thursday evening",
      "in the old town hall",
      "at half past six",
      "with the new teacher",
      "next to the school",
    ],
  ],
  [
    ["The cat", "Our dog Bruno", "The rabbit", "The parrot", "The neighbour's puppy"],
    ["must see the vet", "got a vaccination", "sleeps", "refuses its food", "learned a trick"],
    ["on Friday", "under the sofa", "because of a sore paw", "since we moved", "with the children"],
  ],
  [
    ["The knee", "His blood pressure", "The sore throat", "The back pain", "Her migraine"],
    ["got better", "is treated with tablets", "needs an X-ray", "came back", "is checked"],
    ["after physiotherapy", "twice a day", "at the clinic", "since the marathon", "every three months"],
  ],
];

/** Makes up to 800 different sentences, by all subjects in turn, which are always the same. */
export function sentences(count: number): string[] {
  const found: string[] = [];
  for (let i = 0; found.length < count; i += 1) {
    for (const [who = [], did = [], how = []] of SUBJECTS) {
      const pick = (parts: readonly string[], step: number) =>
        parts[Math.floor(i / step) % parts.length] as string;
      found.push(`${pick(who, 1)} ${pick(did, who.length)} ${pick(how, who.length * did.length)}.`);
    }
  }
  return found.slice(0, count);
}
