import { TimeSlice } from "../memory/pacing/bounds.js";
import { turn } from "../memory/pacing/turn.js";

/** Pauses of a search that looks at many places, so that other work gets its turn. */
export class Pauses {
  #timeSlice = new TimeSlice();

  async ifDue(): Promise<void> {
    if (!this.#timeSlice.isOver) return;
    await turn();
    this.#timeSlice = new TimeSlice();
  }
}
