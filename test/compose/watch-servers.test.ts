import { expect, it, vi } from "vitest";
import type { Context } from "../../src/compose/context.js";
import { watchServers } from "../../src/compose/models.js";
import { Readiness } from "../../src/server/listen/readiness.js";

it("a server that was away when its model was closed counts as away no more", () => {
  const readiness = new Readiness();
  readiness.start();
  let present = "openai:old";
  const set = vi.fn();
  const context = {
    readiness,
    logger: { info: () => {}, error: () => {} },
    telemetry: { metrics: { embedServerAvailable: { set } } },
  };
  const servers = watchServers(context as unknown as Context, () => present);
  servers.note("openai:old", new Error("it does not answer"));
  expect(readiness.now()).toBe(false);
  // The database's model is changed because of that, and all namespaces move.
  present = "openai:new";
  servers.note("openai:old", new Error("it does not answer"));
  expect(readiness.now()).toBe(true);
  expect(set).toHaveBeenLastCalledWith(0);
  servers.forget("openai:old");
  expect(set).toHaveBeenLastCalledWith(1);
  // It is changed back, and the server of the former one answers when the model is opened.
  present = "openai:old";
  servers.note("openai:new", undefined);
  expect(readiness.now()).toBe(true);
});
