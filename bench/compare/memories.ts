/** Slots of a memory. Each list's length is the base of one digit of the memory's number. */
const WHO = words(
  "Ana|Mr. Okafor|the landlord|my sister|our team lead|Dr. Chen|the new neighbour|Grandpa Luis|Maria from accounting|the night nurse|Tom's teacher|the plumber|a customer in Oslo|the yoga instructor|cousin Farid|the delivery driver|Aunt Beate|the florist|Captain Reyes|our tax adviser|the twins|Professor Lindqvist|the barista downstairs|my old flatmate|Priya|the choir director|Jonas|the mechanic on Mill Road|our vet|the wedding planner",
);
const DID = words(
  "asked us to postpone|is allergic to|has finally finished|would rather avoid|keeps talking about|paid in advance for|forgot to cancel|is saving money for|signed the papers for|wants a second opinion on|recommended|was disappointed by|still needs help with|is proud of|gave away|borrowed|promised to bring|cannot stand|takes lessons in|wrote a long complaint about|is organising|sold|repaired|dreams of|has doubts about|learned about|photographed|insured|lost|is looking forward to",
);
const WHAT = words(
  "the kitchen renovation|peanuts and shellfish|a flat near the harbour|the quarterly report|sourdough bread|the train to Lyon|an electric piano|the surprise party|blue orchids|the summer internship|a used camper van|the alarm system|Portuguese|the neighbourhood garden|an old stamp album|root canal treatment|the marathon in October|the insurance claim|a rescue greyhound|vegetarian cooking|the school play|a leather armchair|the broken boiler|winter fishing|the choir's tour|a mountain cabin|the new accounting software|opera tickets|the divorce lawyer|a telescope",
);
const WHEN = words(
  "last summer|every second Tuesday|before the board meeting|since the accident|in the spring of 2019|shortly after midnight|during the holidays|because of the heavy rain|for the third time this year|without telling anyone|over lunch|as a child|on the way to the airport|until the end of March|the week before Easter|right after the concert|in early November|on her fortieth birthday|while the office was closed|at half past nine",
);
const MORE = words(
  "The number to call is on the fridge.|It will cost about 300 euros.|Nobody else knows yet.|Remind me two days before.|The receipt is in the blue folder.|It went better than expected.|They agreed on a discount.|We should send a card.|The old contract runs out in June.|There were no seats left.|It has to be decided by Friday.|The doctor said not to worry.|Parking there is impossible.|She prefers e-mail to phone calls.|The spare key is with the neighbours.|He would do it again.||||",
);
const ASKED = words(
  "what do I know about|when was there something with|who had to do with|remind me of|is there anything about|tell me more on|what happened with|did anybody mention|what should I remember about|how was it with|find what concerns|why did we speak of",
);

/** Step that is coprime to every base, so that neighbouring numbers differ in all slots. */
const STRIDE = 7_368_787;
const MEMORIES_MAX = WHO.length * DID.length * WHAT.length * WHEN.length * MORE.length;
const QUESTIONS_MAX = ASKED.length * WHO.length * WHAT.length * WHEN.length;

/** Makes the `i`th memory, as an assistant might keep it, of 9 to 35 tokens. The first 8 million differ. */
export function memory(i: number): string {
  const digit = digits((i * STRIDE) % MEMORIES_MAX);
  const [who, did, what, when, more] = [digit(WHO), digit(DID), digit(WHAT), digit(WHEN), digit(MORE)];
  return `${who} ${did} ${what} ${when}. ${more}`.trim();
}

/** Makes the `i`th question about the memories. The first 200,000 differ. */
export function question(i: number): string {
  const digit = digits((i * STRIDE) % QUESTIONS_MAX);
  return `${digit(ASKED)} ${digit(WHO)} and ${digit(WHAT)} ${digit(WHEN)}?`;
}

/** Takes a number apart in the bases of the lists, one digit a call. */
function digits(n: number): (list: readonly string[]) => string {
  let rest = n;
  return (list) => {
    const word = list[rest % list.length] as string;
    rest = Math.floor(rest / list.length);
    return word;
  };
}

function words(list: string): readonly string[] {
  return list.split("|");
}
