import { afterAll, expect, it } from "vitest";
import { ThreadProjector } from "../../dist/src/vectors/projection/projector.js";

const projector = new ThreadProjector();
afterAll(() => projector.close());

it("a projection whose thread fails takes none with it that begins behind it", async () => {
  const rows = () => Float32Array.of(0, 0, 1, 1);
  for (let time = 0; time < 5; time++) {
    await expect(projector.project({ rows: rows(), dimensions: -1 })).rejects.toThrow();
    // The first thread has failed and has not ended yet.
    const places = await projector.project({ rows: rows(), dimensions: 2 });
    expect(places).toHaveLength(4);
  }
});
