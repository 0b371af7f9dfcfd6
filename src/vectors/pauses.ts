import { TimeSlice } from "../memory/pacing/bounds.js";
import { yieldToEventLoop } from "../memory/pacing/yield-to-event-loop.js";

/** Pauses of a search that looks at many places, so that other work runs. */
export class Pauses {
  #timeSlice = new TimeSlice();

  async ifDue(): Promise<void> {
    if (!this.#timeSlice.isOver) return;
    await yieldToEventLoop();
    this.#timeSlice = new TimeSlice();
  }
}
