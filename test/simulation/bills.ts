/** What one call was charged, as its process knows. `A` is its answer. */
export class Bill<A = unknown> {
  /** Ends the work of the call. Its signal finds the bill where the call's texts are embedded. */
  readonly controller = new AbortController();
  /** Calls that were charged, less those that were refunded. */
  calls = 0;
  /** True if the outcome of a charge or a refund is unknown. */
  isUnclear = false;
  /** Place among the ends of all calls' work, even if its caller has stopped waiting; infinite if its process died. */
  ended = Number.POSITIVE_INFINITY;
  /** Texts that its answer costs calls for: stored by this attempt or another one, or kept for a similar one. */
  owed: readonly string[] = [];

  constructor(
    readonly number: number,
    private readonly bills: { ended: number },
    private readonly owedFor: (answer: A) => readonly string[],
  ) {}

  answer(answer: A): void {
    this.owed = this.owedFor(answer);
  }

  end(): void {
    this.ended = ++this.bills.ended;
  }
}

/** A text that a call has put into a log. */
export interface Written {
  readonly text: string;
  /** Number of the call's bill. */
  readonly bill: number;
}

/** What a database knows of what was charged. */
interface Charged {
  readonly written: readonly Written[];
  /** True if a call that failed could not note in its claim that it was refunded. */
  readonly hasLostRefund: boolean;
}

/**
 * What requests may cost: one call for each text that is stored, whichever attempts stored it. Only an attempt whose
 * process died may stay charged for nothing, or one that could not know whether it was charged.
 */
export class Bills {
  ended = 0;
  #number = 0;
  /** Bills of the attempts of each request, by its texts. */
  readonly #requests = new Map<string, Bill<never>[]>();

  /**
   * Opens the bill of an attempt to write texts, or to recall.
   *
   * @param owedFor finds the texts that an answer costs calls for
   */
  open<A>(texts: readonly string[], owedFor: (answer: A) => readonly string[]): Bill<A> {
    const bill = new Bill(++this.#number, this, owedFor);
    const key = JSON.stringify(texts);
    this.#requests.set(key, [...(this.#requests.get(key) ?? []), bill]);
    return bill;
  }

  /** Finds what was charged too often or too seldom, at the end of a schedule. */
  *wrong({ written, hasLostRefund }: Charged): Iterable<string> {
    const writes = new Set(written.map(({ text, bill }) => `${bill} ${text}`));
    for (const [key, bills] of this.#requests) {
      const texts: string[] = JSON.parse(key);
      const writtenBy = ({ number }: Bill<never>) => texts.filter((text) => writes.has(`${number} ${text}`));
      const owed = new Set(bills.flatMap((bill) => bill.owed));
      // A text is in two logs if a drop came between.
      const due = texts.map((text) => {
        const writers = bills.filter((bill) => writtenBy(bill).includes(text));
        return Math.max(writers.length, owed.has(text) ? 1 : 0);
      });
      const charged = bills.map((bill) => {
        if (bill.isUnclear) return 0;
        return bill.ended === Number.POSITIVE_INFINITY
          ? Math.min(bill.calls, writtenBy(bill).length)
          : bill.calls;
      });
      if (sum(charged) > sum(due)) yield `${key} cost ${sum(charged)} calls in place of ${sum(due)}`;
      const paid = sum(bills.map(({ calls }) => calls));
      // What an attempt has written and was refunded for is free in rare cases: if it slept, and was refunded after
      // another was answered; or if nobody knows of the refund: a third attempt died between the two, the claim did not get
      // to know, or the attempt from which it took over slept and goes on.
      const answers = bills.filter((bill) => bill.owed.length > 0);
      const answered = Math.min(...answers.map(({ ended }) => ended));
      const goesOn = (from: Bill<never>) => answers.some((bill) => bill.number < from.number);
      const isExcused = bills.some(
        (bill) =>
          bill.isUnclear ||
          (bill.calls < writtenBy(bill).length &&
            (bill.ended > answered || bills.length > 2 || hasLostRefund || goesOn(bill))),
      );
      if (paid < owed.size && !isExcused) yield `${key} cost ${paid} calls in place of ${owed.size}`;
    }
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
