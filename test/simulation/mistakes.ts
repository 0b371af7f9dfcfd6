/** A mistake to plant: in this file, the second text replaces the first. */
export interface Mistake {
  readonly what: string;
  /** Seed of a schedule that found it lately, which is tried first; such seeds save minutes, and may be out of date. */
  readonly seed?: number;
  readonly changes: readonly (readonly [file: string, from: string, to: string])[];
}

/** Mistakes that were made, or that would be easy to make. The simulation must find each. */
export const MISTAKES: readonly Mistake[] = [
  {
    what: "a copier takes what is missing in the original for deleted",
    seed: 21,
    changes: [
      [
        "memory/reembedding/move.ts",
        "  if (entries.length > 0) await log.append({ logId: to, from: news[0]?.sequence ?? 1, entries });\n",
        `  if (entries.length > 0) await log.append({ logId: to, from: news[0]?.sequence ?? 1, entries });
  const stored = news.filter(({ entry }) => entry.op === "store").map(({ sequence }) => sequence);
  const origin = to.split("x")[0] as string;
  const still = new Set((await log.fetch({ logId: origin, sequences: stored, projection: "header" })).found.map(({ sequence }) => sequence));
  await log.erase({ logId: to, sequences: stored.filter((sequence) => !still.has(sequence)) });
`,
      ],
    ],
  },
  {
    what: "a retry with its key appends without asking whether the memory was there before",
    seed: 393,
    changes: [["memory/operations/write.ts", "idempotent: this.attempt !== undefined", "idempotent: false"]],
  },
  {
    what: "a store that waited for the model brings a closed account's name back, and nobody looks for it",
    seed: 51,
    changes: [
      ["memory/log/namespaces.ts", "await authenticate?.();", ""],
      ["memory/erasure/sweeping.ts", "closed.has(scope.accountId)", "false"],
    ],
  },
  {
    what: "an attempt whose answer comes second keeps its charge, or the first gives it back",
    seed: 71,
    changes: [
      ["memory/idempotency/idempotency.ts", "if (recorded !== answer) await work.undo(", "await work.undo("],
    ],
  },
  {
    what: "an attempt gets the charge back of what it has stored, and not of what another one has",
    changes: [["memory/operations/write.ts", "if (!isOthers) this.#paid", "if (isOthers) this.#paid"]],
  },
  {
    what: "a recall does not wait until its replica has caught up with the log",
    changes: [
      ["memory/operations/recall.ts", 'timer.time("catch_up", () => replica.current())', "Promise.resolve()"],
    ],
  },
  {
    what: "a call that fails stays paid",
    changes: [["memory/operations/within-quota.ts", "quota.refund(caller, refunded)", "Promise.resolve()"]],
  },
  {
    what: "whoever asks joins the look at the log that is under way",
    seed: 179,
    changes: [
      [
        "concurrency/coalesce.ts",
        "    next ??= running.then(begin, begin);\n    return next;",
        "    next ??= begin().finally(() => {\n      next = undefined;\n    });\n    return next;",
      ],
      ["concurrency/coalesce.ts", "    next = undefined;\n    const begun", "    const begun"],
    ],
  },
  {
    what: "a drop whose process sleeps before it ends the log is forgotten by the sweep",
    changes: [
      [
        "memory/erasure/sweeping.ts",
        "entry !== undefined && isEnd(entry)",
        "entry !== undefined && entry.op === 'lost'",
      ],
      [
        "memory/log/living-log.ts",
        "await erasures.findOrInsert(erasureOf(",
        "if (Date.now() < 0) await erasures.findOrInsert(erasureOf(",
      ],
    ],
  },
  {
    what: "a writer goes on after the end of a log",
    seed: 12,
    changes: [["memory/log/appender.ts", "if (this.replica.hasEnded) throw new LogEndedError();", ""]],
  },
  {
    what: "a move leaves behind what was stored since the copy",
    seed: 3,
    changes: [
      [
        "memory/reembedding/move.ts",
        "from: copied + 1, entries: [moved]",
        "from: ((await log.last(from))?.sequence ?? 0) + 1, entries: [moved]",
      ],
    ],
  },
  {
    what: "nobody erases copies that were given up",
    seed: 47,
    changes: [["memory/reembedding/move.ts", "of pins.all.slice(1)", "of pins.all.slice(0, 0)"]],
  },
  {
    what: "a drop leaves the copy that another process makes",
    seed: 3,
    changes: [["memory/erasure/erase.ts", "if (copy !== logId) await endCopy(ports, copy);", ""]],
  },
  {
    what: "a store is embedded by the newest model, whichever log it goes to",
    changes: [["memory/operations/write.ts", "await embed(modelVersionOf(replica.logId))", "guessed"]],
  },
  {
    what: "a recall is embedded by the newest model, whichever log it meets",
    changes: [
      [
        "memory/operations/recall.ts",
        "queriesIn(modelVersionOf(replica.logId))",
        "queriesIn(ports.modelVersions.newest)",
      ],
    ],
  },
  {
    what: "a replica goes on finding the version that an update has replaced",
    seed: 27,
    changes: [
      [
        "memory/log/replica.ts",
        "const target = forgottenBy(entry);",
        "const target = entry.op === 'delete' ? entry.target : undefined;",
      ],
      ["memory/search/rank.ts", "latest.get(entry.id) === sequence", "true"],
    ],
  },
  {
    what: "an update does not see the tombstone of its memory, which is still to be erased",
    seed: 537,
    changes: [
      [
        "memory/versions/current-version.ts",
        'if (last?.how === "deleted" && (next ?? 0) <= sequence) return undefined;',
        'if (last?.how === "deleted" && found) return { ...found, supersededBy: undefined };',
      ],
    ],
  },
  {
    what: "a delete leaves the version that an update has made meanwhile",
    seed: 56,
    changes: [
      [
        "memory/operations/delete-memory.ts",
        "    found = await locate(ports, target);\n  }",
        "    found = undefined;\n  }",
      ],
    ],
  },
  {
    what: "nobody erases the old version when a process dies after an update, or what it has deleted",
    seed: 225,
    changes: [["memory/erasure/sweeping.ts", "erasingForgotten(ports),", "async () => 0,"]],
  },
  {
    what: "a retry of a replacement with its key replaces again",
    seed: 576,
    changes: [
      [
        "memory/log/namespaces.ts",
        "appendAll(entries, { idempotent })",
        'appendAll(entries, { idempotent: idempotent && !entries.some((each) => "decide" in each) })',
      ],
    ],
  },
  {
    what: "a store with an external id goes in although another came first",
    seed: 253,
    changes: [
      [
        "memory/log/appender.ts",
        "if (!isOverdue && this.replica.applied === applied) await this.#write([decision.entry]);",
        "if (!isOverdue) await this.#write([decision.entry]);",
      ],
      [
        "memory/log/appender.ts",
        "return isConditional(first.what) ? this.#writeDecided(first.what)",
        "return isConditional(first.what) ? this.#writeOld(first.what)",
      ],
      [
        "memory/log/appender.ts",
        "  async #write(entries: readonly Appended[]): Promise<void> {",
        `  readonly #firstDecided = new Map<string, Appended>();
  async #writeOld(conditional: Conditional): Promise<void> {
    const decided = this.#firstDecided.get(conditional.opId);
    if (decided !== undefined) return this.#write([decided]);
    const decide: Conditional["decide"] = async (view) => {
      const decision = await conditional.decide(view);
      if ("entry" in decision) this.#firstDecided.set(conditional.opId, decision.entry);
      return decision;
    };
    return this.#writeDecided({ ...conditional, decide });
  }

  async #write(entries: readonly Appended[]): Promise<void> {`,
      ],
    ],
  },
  {
    what: "a memory is updated or superseded that was superseded before",
    seed: 297,
    changes: [
      ["memory/versions/current-version.ts", "supersededBy: last?.id }", "supersededBy: undefined }"],
    ],
  },
  {
    what: "a search shows what has expired",
    seed: 14,
    changes: [["memory/log/replica.ts", "await this.#expire();", ""]],
  },
  {
    what: "a search shows what was superseded",
    changes: [["memory/log/replica.ts", "this.#removeLiving(superseded);", ""]],
  },
  {
    what: "nobody erases what has expired",
    changes: [["memory/erasure/sweeping.ts", "eraseExpired(ports)", "Promise.resolve(0)"]],
  },
  {
    what: "a recall misses a memory that is updated while it searches",
    seed: 14,
    changes: [["memory/search/search.ts", "if (overtaken === undefined) return found;", "return found;"]],
  },
  {
    what: "a recall with a filter misses a memory that is updated before the filter is applied to it",
    seed: 515,
    changes: [["memory/search/search.ts", "return missing.slice(0, NEW_VERSIONS_MAX);", "return [];"]],
  },
  {
    what: "a store that keeps what is there stays paid",
    seed: 354,
    changes: [
      [
        "memory/operations/write.ts",
        'if (unpaid > 0) await timer.time("refund", () => quota.refund(caller, unpaid));',
        "",
      ],
    ],
  },
  {
    what: "a change is refused by what a log held which another process has ended",
    seed: 430,
    changes: [
      ["memory/log/appender.ts", "if (!this.#current.has(conditional)) await this.replica.current();", ""],
    ],
  },
  {
    what: "a delete by filter does not see what other processes have written",
    seed: 11,
    changes: [["memory/operations/matching.ts", "    await replica.current();\n", ""]],
  },
  {
    what: "a store that keeps a similar memory does not look at what came after its search",
    seed: 253,
    changes: [["memory/operations/similar-memories.ts", "    await this.#readUntil(view);\n", ""]],
  },
  {
    what: "a store that supersedes a similar memory leaves it",
    seed: 25,
    changes: [
      ["memory/operations/store-item.ts", "supersedes: [...supersedes, alike.entry.id]", "supersedes"],
    ],
  },
  {
    what: "a retry with its key pays for what an attempt has stored that died",
    seed: 253,
    changes: [["memory/operations/write.ts", "if (!isOthers) this.#paid.add(id);", "this.#paid.add(id);"]],
  },
  {
    what: "a retry with its key takes an attempt that died for one that failed",
    seed: 54,
    changes: [
      ["memory/idempotency/idempotency.ts", "isNew, isRefunded, stored", "isNew, isRefunded: !isNew, stored"],
    ],
  },
  {
    what: "a retry with its key does not pay for what a failed attempt has stored late",
    seed: 1416,
    changes: [["memory/operations/write.ts", "this.attempt?.isRefunded !== true && ", ""]],
  },
  {
    what: "an export goes on with vectors of another model",
    seed: 20816,
    changes: [
      [
        "memory/operations/stream/export.ts",
        "if (includeVectors && modelVersionOf(reading.logId) !== modelVersionOf(logId))",
        "if (includeVectors && reading.logId === undefined)",
      ],
    ],
  },
  {
    what: "a store leaves the expired memory that had its external id",
    seed: 867,
    changes: [
      ["memory/operations/deciding.ts", "if (expired !== undefined)", "if (expired?.sequence === 0)"],
    ],
  },
  {
    what: "an update of several memories takes back what others have changed meanwhile",
    seed: 2244,
    changes: [
      [
        "memory/operations/update-memories.ts",
        "old === memory.metadata ? after : parseMetadata(change(parsed(old)))",
        'old === "" ? old : after',
      ],
    ],
  },
  {
    what: "an update by a filter leaves out what others have changed meanwhile",
    seed: 62,
    changes: [
      [
        "memory/operations/update-memories.ts",
        "return this.#wasOvertaken ? (sequences.at(-1) ?? 0) + 1 : undefined;",
        "return undefined;",
      ],
    ],
  },
];
