import { Piece } from "../memory/pacing/bounds.js";
import { turn } from "../memory/pacing/turn.js";

/** Pauses of a search that looks at many places, so that other work gets its turn. */
export class Pauses {
  #piece = new Piece();

  async ifDue(): Promise<void> {
    if (!this.#piece.isOver) return;
    await turn();
    this.#piece = new Piece();
  }
}
