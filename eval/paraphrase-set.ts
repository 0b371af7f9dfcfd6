/** A question and an answer in other words. Each answer is unrelated to all other questions. */
export interface Paraphrase {
  readonly query: string;
  readonly passage: string;
}

/** Questions by language: few models read all of these, and every useful one reads at least one. */
export const PARAPHRASES: Readonly<Record<string, readonly Paraphrase[]>> = {
  English: [
    {
      query: "What does she like to drink in the morning?",
      passage: "Every day begins for her with a pot of green tea.",
    },
    {
      query: "Where is the spare key?",
      passage: "There is a second key to the house under the blue flower pot.",
    },
    {
      query: "When is the dentist's appointment?",
      passage: "His teeth are going to be looked at on Tuesday at nine.",
    },
    { query: "Which food makes him ill?", passage: "Peanuts give him a dangerous allergic reaction." },
    { query: "How did the football match end?", passage: "Our team lost the game by two goals." },
    { query: "What is the program written in?", passage: "The code base is TypeScript throughout." },
  ],
  German: [
    {
      query: "Was trinkt sie morgens gern?",
      passage: "Jeder Tag beginnt für sie mit einer Kanne grünem Tee.",
    },
    {
      query: "Wo liegt der Ersatzschlüssel?",
      passage: "Einen zweiten Schlüssel zum Haus findet man unter dem blauen Blumentopf.",
    },
    {
      query: "Wann ist der Termin beim Zahnarzt?",
      passage: "Die Zähne werden am Dienstag um neun untersucht.",
    },
    {
      query: "Welches Essen verträgt er nicht?",
      passage: "Erdnüsse lösen bei ihm eine gefährliche Allergie aus.",
    },
  ],
  Chinese: [
    { query: "她早上喜欢喝什么？", passage: "她每天起床后先泡一壶绿茶。" },
    { query: "备用钥匙在哪里？", passage: "家里的另一把钥匙放在蓝色花盆下面。" },
    { query: "什么时候去看牙医？", passage: "星期二上午九点检查牙齿。" },
    { query: "他不能吃什么食物？", passage: "花生会让他严重过敏。" },
  ],
};
