/** A mistake to plant: in this file, the second text replaces the first. */
export interface Mistake {
  readonly what: string;
  readonly changes: readonly (readonly [file: string, from: string, to: string])[];
}

/** Mistakes that were made, or that would be easy to make. The simulation must find each. */
export const MISTAKES: readonly Mistake[] = [
  {
    what: "a copier takes what is missing in the original for deleted",
    changes: [
      [
        "memory/generations/copy.ts",
        "  await log.append({ logId: to, from: first.sequence, entries: copies });\n",
        `  await log.append({ logId: to, from: first.sequence, entries: copies });
  const stored = news.filter(({ entry }) => entry.op === "store").map(({ sequence }) => sequence);
  const from = to.split("x")[0] as string;
  const still = new Set((await log.fetch({ logId: from, sequences: stored, what: "head" })).found.map(({ sequence }) => sequence));
  await log.erase({ logId: to, sequences: stored.filter((sequence) => !still.has(sequence)) });
`,
      ],
    ],
  },
  {
    what: "a retry with its key appends without asking whether the memory was there before",
    changes: [["memory/calls/store.ts", "idempotent: attempt !== undefined", "idempotent: false"]],
  },
  {
    what: "a store that waited for the model brings a closed account's name back, and nobody looks for it",
    changes: [
      ["memory/log/namespaces.ts", "await admit();", ""],
      ["memory/erasure/leftovers.ts", "closed.has(scope.accountId)", "false"],
    ],
  },
  {
    what: "an attempt whose answer comes second keeps its charge, or the first gives it back",
    changes: [["memory/idempotency/idempotency.ts", "if (!isFirst) await undo();", "await undo();"]],
  },
  {
    what: "a recall does not wait until the words have caught up with the log",
    changes: [["memory/log/replica.ts", "until: this.#applied", "until: 0"]],
  },
  {
    what: "a call that fails stays paid",
    changes: [["memory/calls/within-quota.ts", "quota.refund(caller)", "Promise.resolve()"]],
  },
  {
    what: "whoever asks joins the look at the log that is under way",
    changes: [
      [
        "memory/pacing/coalesce.ts",
        "    next ??= running.then(begin, begin);\n    return next;",
        "    next ??= begin().finally(() => {\n      next = undefined;\n    });\n    return next;",
      ],
      ["memory/pacing/coalesce.ts", "    next = undefined;\n    running = run();", "    running = run();"],
    ],
  },
  {
    what: "a drop whose process sleeps before it ends the log is forgotten by the sweep",
    changes: [
      [
        "memory/erasure/leftovers.ts",
        "entry !== undefined && isEnd(entry)",
        "entry !== undefined && entry.op === 'lost'",
      ],
      [
        "memory/generations/mover.ts",
        "await erasures.begin({ id: logId",
        "if (Date.now() < 0) await erasures.begin({ id: logId",
      ],
    ],
  },
  {
    what: "a copier passes over tombstones",
    changes: [
      ["memory/generations/copy.ts", "  await log.erase({ logId: to, sequences: forgotten });\n", ""],
      ["memory/generations/copy.ts", "const gone = new Set(forgotten);", "const gone = new Set<number>();"],
    ],
  },
  {
    what: "a writer goes on behind the end of a log",
    changes: [["memory/log/appender.ts", "if (sealed) return new Sealed();", ""]],
  },
  {
    what: "a replica reads the pinned model before the plan that is about to change it",
    changes: [
      [
        "memory/model-change/reembedding.ts",
        "    const plan = (await systemRecords.plan())?.plan;\n    // After the plan: one that has ended by now has pinned its model before.\n    const pinned = await systemRecords.pinned();\n",
        "    const pinned = await systemRecords.pinned();\n    const plan = (await systemRecords.plan())?.plan;\n",
      ],
      [
        "memory/model-change/reembedding.ts",
        "if (retired !== undefined) this.#models.set(generation, retired.model);\n    this.#retired.delete(generation);",
        "",
      ],
    ],
  },
  {
    what: "a namespace that a stopped process began in the model before is never moved",
    changes: [
      ["memory/generations/generations.ts", "!this.needed.has(generation)", "!this.known.has(generation)"],
    ],
  },
];
