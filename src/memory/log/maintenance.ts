import type { Clock } from "../pacing/clock.js";
import type { Scope } from "../ports/log.js";
import type { Recent } from "../ports/recent.js";
import type { Vectors } from "../ports/vectors.js";
import type { Replica } from "./replica.js";

/** How often a namespace in use is noted as such. */
const TOUCH_MS = 600_000;

export interface MaintenanceOptions {
  readonly vectors: Vectors;
  readonly recent: Recent;
  readonly clock: Clock;
  /** Told of failures; what failed is done again when it is next due. */
  onTrouble?(error: unknown): void;
}

/** A namespace that is looked after. */
export interface Tended {
  readonly scope: Scope;
  readonly replica: Replica;
  /** When its use was last noted, by the clock that never runs backwards. */
  touchedMs: number;
  /** A fresh index is being built for it. */
  renewing: boolean;
}

/** What is done for open namespaces beside the calls: no call waits for it, but the end of the program does. */
export class Maintenance {
  readonly #running = new Set<Promise<void>>();
  /** By log: its indexes that are being closed. */
  readonly #closing = new Map<string, Promise<unknown>>();

  constructor(private readonly options: MaintenanceOptions) {}

  /** After each use: notes it, keeps a snapshot when one is due, and has a fragmented index renewed. */
  tend(open: Tended, renew: () => Promise<void>): void {
    const { replica } = open;
    if (replica.broken || replica.sealed) return;
    this.#touch(open);
    if (replica.fragmented) this.#renew(open, renew);
    else if (replica.snapshotDue) this.#run(() => replica.keepSnapshot());
  }

  close(replica: Replica): void {
    const { logId } = replica;
    const closed = this.#run(async () => {
      await replica.close();
      if (replica.sealed) await this.options.vectors.discard(logId);
    });
    const all = Promise.all([this.#closing.get(logId), closed]).finally(() => {
      if (this.#closing.get(logId) === all) this.#closing.delete(logId);
    });
    this.#closing.set(logId, all);
  }

  /** Resolves when no index of this log is being closed, and so none writes its snapshot. */
  async closed(logId: string): Promise<void> {
    await this.#closing.get(logId);
  }

  discard(logId: string): void {
    this.#run(async () => {
      await this.closed(logId);
      await this.options.vectors.discard(logId);
    });
  }

  forget(scope: Scope): void {
    this.#run(() => this.options.recent.forget(scope));
  }

  /** Resolves when nothing is left to do. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #touch(open: Tended): void {
    const { recent, clock } = this.options;
    if (clock.nowMs() - open.touchedMs < TOUCH_MS) return;
    open.touchedMs = clock.nowMs();
    this.#run(() => recent.touch(open.scope, clock.wallMs()));
  }

  #renew(open: Tended, renew: () => Promise<void>): void {
    if (open.renewing) return;
    open.renewing = true;
    this.#run(() =>
      renew().finally(() => {
        open.renewing = false;
      }),
    );
  }

  #run(work: () => Promise<void>): Promise<void> {
    const running = work()
      .catch((error) => this.options.onTrouble?.(error))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }
}
