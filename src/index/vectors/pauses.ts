import { TimeSlice } from "../../concurrency/time-slices.js";
import { yieldToEventLoop } from "../../concurrency/yield-to-event-loop.js";

/** Pauses of a search that looks at many places, so that other work runs. */
export class Pauses {
  #timeSlice = new TimeSlice();

  async ifDue(): Promise<void> {
    if (!this.#timeSlice.isOver) return;
    await yieldToEventLoop();
    this.#timeSlice = new TimeSlice();
  }
}
