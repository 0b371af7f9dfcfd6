import { type ContextValues, createContextKey } from "@connectrpc/connect";
import { MemoryError } from "../../errors.js";
import { clientAddressKey, networkOf } from "../port/client-address.js";
import { callerKey, takenKey } from "./caller.js";

/** Time after which a refused call may find room. */
const PAUSE_MS = 1_000;

export interface BodyRoomLimits {
  /** Maximum number of bytes that all bodies together may take. */
  readonly bytesMax: number;
  /** Maximum number of calls that wait for room. Each holds what HTTP/2 lets it send unread. */
  readonly waitingMax: number;
  /** Time that a call waits before it is refused. */
  readonly waitMs: number;
}

export const BODY_ROOM_LIMITS: BodyRoomLimits = Object.freeze({
  bytesMax: 67_108_864,
  waitingMax: 256,
  waitMs: 2_000,
});

interface Owner {
  held: number;
  waiting: number;
}

interface Waiter {
  readonly owner: string;
  readonly bytes: number;
  admit(): void;
}

/**
 * Counts the bytes of all bodies that are being received or whose calls still run. An owner is a key or,
 * without one, a client's network. It never holds more than what is still free: a single owner gets half of
 * the room, two get a third each, and some is always left for the next.
 */
export class BodyRoom {
  #held = 0;
  readonly #owners = new Map<string, Owner>();
  readonly #waiters = new Set<Waiter>();

  constructor(private readonly limits: BodyRoomLimits = BODY_ROOM_LIMITS) {}

  get heldBytes(): number {
    return this.#held;
  }

  /** Opens an empty reservation, which the caller must close. */
  open(owner: string): Reservation {
    return new Reservation(
      (bytes) => this.#take(owner, bytes),
      (bytes) => this.#give(owner, bytes),
    );
  }

  /**
   * Takes room, and waits for it if necessary. @throws MemoryError `resource_exhausted` or `unavailable` when
   * there is no room in time.
   */
  async #take(owner: string, bytes: number): Promise<void> {
    if (this.#fits(owner, bytes)) return this.#hold(owner, bytes);
    const { waiting } = this.#ownerOf(owner);
    // The same rule as for bytes: no owner takes all the places to wait.
    if (waiting >= this.limits.waitingMax - this.#waiters.size) throw this.#refusal(owner);
    await this.#wait(owner, bytes);
  }

  #wait(owner: string, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (then: () => void) => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        this.#note(owner, { waiting: -1 });
        then();
      };
      const waiter = { owner, bytes, admit: () => end(resolve) };
      const timer = setTimeout(() => end(() => reject(this.#refusal(owner))), this.limits.waitMs);
      this.#waiters.add(waiter);
      this.#note(owner, { waiting: 1 });
    });
  }

  #give(owner: string, bytes: number): void {
    this.#hold(owner, -bytes);
    for (const waiter of this.#waiters) {
      if (!this.#fits(waiter.owner, waiter.bytes)) continue;
      this.#hold(waiter.owner, waiter.bytes);
      waiter.admit();
    }
  }

  #fits(owner: string, bytes: number): boolean {
    return this.#ownerOf(owner).held + bytes <= this.limits.bytesMax - this.#held;
  }

  #hold(owner: string, bytes: number): void {
    this.#held += bytes;
    this.#note(owner, { held: bytes });
  }

  #ownerOf(owner: string): Owner {
    return this.#owners.get(owner) ?? { held: 0, waiting: 0 };
  }

  /**
   * Adds to what an owner holds and waits for. Owners who hold nothing and wait for nothing are forgotten.
   */
  #note(name: string, { held = 0, waiting = 0 }: Partial<Owner>): void {
    const owner = this.#ownerOf(name);
    owner.held += held;
    owner.waiting += waiting;
    if (owner.held === 0 && owner.waiting === 0) this.#owners.delete(name);
    else this.#owners.set(name, owner);
  }

  #refusal(owner: string): MemoryError {
    const options = { reason: "BODIES_LIMITED", retryAfterMs: PAUSE_MS } as const;
    if (this.#ownerOf(owner).held === 0) {
      return new MemoryError("unavailable", "the server receives too many large bodies now", options);
    }
    const message =
      "the bodies of this caller's running calls fill its share of memory; send fewer at a time";
    return new MemoryError("resource_exhausted", message, options);
  }
}

/** Room that one body takes. */
export class Reservation {
  #bytes = 0;
  #closed = false;

  constructor(
    private readonly take: (bytes: number) => Promise<void>,
    private readonly give: (bytes: number) => void,
  ) {}

  /** Changes the reservation to this number of bytes in all; may wait. @throws MemoryError without room. */
  async resize(bytes: number): Promise<void> {
    const more = bytes - this.#bytes;
    if (more > 0) await this.take(more);
    else if (!this.#closed && more < 0) this.give(-more);
    // It may have been closed while it waited.
    if (this.#closed && more > 0) this.give(more);
    else if (!this.#closed) this.#bytes = bytes;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#bytes > 0) this.give(this.#bytes);
  }
}

/** Room for a call's body; set for every RPC. */
export const bodyRoomKey = createContextKey<BodyRoom | undefined>(undefined, {
  description: "room for bodies",
});

/** Opens the reservation of a call that the gate let in; it is closed when the answer was taken. */
export function reservationOf(values: ContextValues): Reservation {
  const room = values.get(bodyRoomKey) ?? new BodyRoom();
  const key = values.get(callerKey)?.keyHash;
  const place = room.open(key ?? `address ${networkOf(values.get(clientAddressKey))}`);
  void values.get(takenKey).then(() => place.close());
  return place;
}
