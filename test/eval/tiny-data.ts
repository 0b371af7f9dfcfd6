import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

/** Writes rows as JSON Lines, by path, with `.gz` files compressed. Returns the folder. */
export function writeData(files: Readonly<Record<string, readonly object[]>>): string {
  const folder = mkdtempSync(join(tmpdir(), "recalld-eval-"));
  for (const [path, rows] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    writeFileSync(join(folder, path), path.endsWith(".gz") ? gzipSync(text) : text);
  }
  return folder;
}

const row = (id: string, scope: string, session: string, text: string) => ({ id, scope, session, text });

/** Made-up data: two persons' memories, questions of every form, and a few rated pairs. */
export const TINY: Readonly<Record<string, readonly object[]>> = {
  "retrieval/people/corpus.dev.jsonl.gz": [
    row("ana/1", "ana", "s1", "Ana is allergic to peanuts."),
    row("ana/2", "ana", "s2", "Ana's flight to Lisbon leaves on Friday evening."),
    row("ana/3", "ana", "s3", "Ana plays the violin in an orchestra."),
    row("ben/1", "ben", "s1", "Ben repairs old bicycles in his garage."),
    row("ben/2", "ben", "s2", "Ben's daughter was born in May."),
    row("eva/1", "eva", "s1", "Nobody asks about Eva."),
  ],
  "retrieval/people/queries.dev.jsonl": [
    {
      id: "q1",
      scope: "ana",
      query: "Which foods should Ana avoid?",
      relevant: ["ana/1"],
      relevant_sessions: ["s1"],
      category: "single",
    },
    {
      id: "q2",
      scope: "ana",
      query: "When does Ana travel to Portugal?",
      relevant: ["ana/2"],
      relevant_sessions: ["s2"],
      category: "single",
    },
    {
      id: "q3",
      scope: ["ana", "ben"],
      query: "Who fixes bikes?",
      relevant: ["ben/1"],
      grades: { "ben/1": 2, "ana/3": 1 },
      category: "both",
    },
    {
      id: "q4",
      scope: "ben",
      query: "What is the capital of Mongolia?",
      relevant: [],
      category: "abstention",
    },
    {
      id: "q5",
      scope: "ben",
      query: "When was Ana's daughter born?",
      relevant: ["ben/2"],
      category: "adversarial",
    },
  ],
  "retrieval/storeOptions/corpus.jsonl": [
    { id: "1", text: "wake me up at seven", label: "alarm" },
    { id: "2", text: "set an alarm for noon", label: "alarm" },
    { id: "3", text: "play some jazz", label: "music" },
  ],
  "retrieval/storeOptions/queries.dev.jsonl": [
    { id: "w1", query: "set my alarm clock", relevant_label: "alarm" },
  ],
  "retrieval/hidden/corpus.jsonl": [{ id: "1", text: "a" }],
  "retrieval/hidden/queries.heldout.jsonl": [{ id: "1", query: "a", relevant: ["1"] }],
  "sts/stsb-tiny.dev.jsonl": [
    { id: "1", sentence1: "A man is playing a guitar.", sentence2: "A man plays the guitar.", score: 4.8 },
    { id: "2", sentence1: "A dog runs on the beach.", sentence2: "A dog is running.", score: 3.2 },
    { id: "3", sentence1: "The stock market fell.", sentence2: "A child is eating ice cream.", score: 0 },
  ],
  "pairs/doubles.dev.jsonl.gz": [
    { id: "1", sentence1: "How do I learn to cook?", sentence2: "How can I learn cooking?", label: 1 },
    { id: "2", sentence1: "How do I learn to cook?", sentence2: "What is the largest planet?", label: 0 },
  ],
};
