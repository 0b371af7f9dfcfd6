import { randomBytes } from "node:crypto";
import { every } from "../../every.js";
import type { Clock } from "../pacing/clock.js";
import { type Format, type Formats, formatOf, type Marked, OLDEST_FORMAT, refusalOf } from "./format.js";

/** Interval of looking up the format: a program that has become too old ends within this time. */
const FORMAT_POLL_MS = 2_000;
/** Time between raising `readersMin` and the first record that needs it. */
export const NOTICE_MS = 15_000;
/** Time without news after which the leading process counts as dead. */
export const MIGRATION_LEASE_MS = 30_000;

/** A step from one format to the next, made while services use the database. */
export interface Migration {
  /** Format of all records when it is done: one more than before. */
  readonly to: number;
  /** Minimum version that programs must know once it begins; less than `to` if older ones may go on. */
  readonly readersMin: number;
  /**
   * Converts a bounded part of the records after the cursor, and answers the next cursor; undefined if none
   * are left. A part may be repeated, and two processes may do the same one: each record is changed only
   * while it has the old form. The program reads both forms as long as the migration is in its list, and
   * writes the new one only when the format says so.
   */
  step(cursor: string | null): Promise<string | undefined>;
}

export interface MigratingOptions {
  readonly formats: Formats;
  /** Migrations in order, from the oldest format to the latest that this program knows. */
  readonly migrations: readonly Migration[];
  /** The version of this program. */
  readonly program: string;
  /** True if no other process can use this database. */
  readonly exclusive: boolean;
  readonly clock: Clock;
  /** Called if the database has become too new for this program, which must end then. */
  onTooNew(error: unknown): void;
  /** Called with failures; the work is tried again. */
  onTrouble(error: unknown): void;
  onRaised(version: number): void;
}

/** Answers the latest format that a program with these migrations knows. */
export function latestOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.to ?? OLDEST_FORMAT;
}

/** Follows the database's format and raises it to the latest: one process migrates, the others wait. */
export class Migrating {
  readonly #replica = randomBytes(6).toString("hex");
  #end: (() => Promise<void>) | undefined;
  #closed = false;

  constructor(private readonly options: MigratingOptions) {}

  /** Looks at once, and then every two seconds. */
  start(): void {
    const { onTrouble } = this.options;
    this.#end = every(() => this.look(), { everyMs: FORMAT_POLL_MS, atOnce: true, onTrouble });
  }

  /** Stops after the current part; another process, or the next start, continues there. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#end?.();
  }

  /** Does the next work that the format requires, as far as possible now. */
  async look(): Promise<void> {
    const { formats, migrations, program, onTooNew } = this.options;
    const reader = { known: latestOf(migrations), program };
    const format = await formatOf(formats, reader);
    const refusal = refusalOf(format, reader);
    if (refusal !== undefined) return onTooNew(refusal);
    const migration = migrations.find(({ to }) => to === format.version + 1);
    const marked = migration && (await formats.read());
    if (migration && marked?.format.version === format.version) await this.#raise(marked, migration);
  }

  async #raise(marked: Marked, migration: Migration): Promise<void> {
    const { exclusive, clock, onRaised } = this.options;
    let led = await this.#lead(marked, migration);
    if (led === undefined) return;
    const mustWait = !exclusive && migration.readersMin > migration.to - 1;
    const begunAtMs = led.format.migration?.begunAtMs ?? 0;
    // Programs that are too old have looked by then, and ended.
    if (mustWait && clock.wallMs() - begunAtMs < NOTICE_MS) return;
    while (!this.#closed) {
      const cursor = await migration.step(led.format.migration?.cursor ?? null);
      led = await this.#keep(led, cursor === undefined ? undefined : { migration, cursor });
      if (led === undefined) return;
      if (cursor === undefined) return onRaised(migration.to);
    }
  }

  /** Takes the lead, unless another has it. */
  async #lead(marked: Marked, migration: Migration): Promise<Marked | undefined> {
    const { migration: standing } = marked.format;
    const { exclusive, clock } = this.options;
    const isOther = standing !== undefined && standing.lead.replica !== this.#replica;
    if (isOther && !exclusive && standing.lead.untilMs > clock.wallMs()) return undefined;
    return this.#keep(marked, { migration, cursor: standing?.cursor ?? null });
  }

  /** Records the progress, or the end; undefined if another process has changed the mark meanwhile. */
  async #keep(
    { format, revision }: Marked,
    at: { migration: Migration; cursor: string | null } | undefined,
  ): Promise<Marked | undefined> {
    const { formats, program, clock } = this.options;
    const { migration: standing, ...rest } = format;
    const lead = { replica: this.#replica, untilMs: clock.wallMs() + MIGRATION_LEASE_MS };
    const begunAtMs = standing?.begunAtMs ?? clock.wallMs();
    const to: Format =
      at === undefined
        ? { ...rest, program, version: format.version + 1 }
        : {
            ...rest,
            program,
            readersMin: Math.max(format.readersMin, at.migration.readersMin),
            migration: { to: at.migration.to, begunAtMs, cursor: at.cursor, lead },
          };
    return (await formats.replace({ from: revision, to }))
      ? { format: to, revision: revision + 1 }
      : undefined;
  }
}
