const WHO =
  "my sister|the new neighbour|our team lead|Dr. Chen|the delivery driver|grandfather|a customer from Oslo|the gardener|Maria|the night nurse|my old teacher|the plumber".split(
    "|",
  );
const DID =
  "prefers|forgot|ordered|repaired|sold|is afraid of|wrote about|recommended|lost|collects|cancelled|dreams of|painted|complained about|learned to make".split(
    "|",
  );
const WHAT =
  "a red bicycle|sourdough bread|the train to Lyon|an electric piano|blue orchids|the quarterly report|fishing in winter|a flat near the harbour|vegetarian food|the alarm system|an old stamp album|a dentist's appointment|Portuguese lessons|the garden fence|a trip to Iceland".split(
    "|",
  );
const WHEN =
  "last summer|every Tuesday|before the meeting|since the accident|in 2019|after midnight|on holidays|because of the rain|for the third time|without telling anyone|during lunch|as a child".split(
    "|",
  );

/**
 * Makes sentences as an assistant might store them: 32,400 different ones, then the same again with a number.
 */
export function sentence(i: number): string {
  const pick = (words: readonly string[], stride: number) =>
    words[Math.floor(i / stride) % words.length] as string;
  const text = `${pick(WHO, 1)} ${pick(DID, 12)} ${pick(WHAT, 180)} ${pick(WHEN, 2700)}`;
  const again = Math.floor(i / 32_400);
  return again === 0 ? text : `${text}, note ${again}`;
}

/**
 * Makes questions about the sentences: 10,800 different ones, then the same again with a number. The service embeds none
 * twice, so a measurement of recalls must not ask one twice.
 */
export function question(i: number): string {
  const pick = (words: readonly string[], at: number) => words[at % words.length] as string;
  // Who and what are the same after so many.
  const round = Math.floor(i / 60);
  const about = `${pick(WHO, 5 * i)}, and who ${pick(DID, round)} ${pick(WHAT, 7 * i)}`;
  const text = `what do I know about ${about} ${pick(WHEN, Math.floor(round / DID.length))}`;
  const again = Math.floor(i / 10_800);
  return again === 0 ? `${text}?` : `${text}, note ${again}?`;
}
