import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { Gauge } from "../../web/src/parts/gauge.js";

it.each([
  [0, 1_000, "calm"],
  [800, 1_000, "warn"],
  [1_000, 1_000, "full"],
  [0, 0, "full"],
  [1, 0, "full"],
])("a gauge of %i of %i calls is %s", (used, limit, state) => {
  const markup = renderToStaticMarkup(createElement(Gauge, { used, limit, label: "Calls used" }));
  expect(markup).toContain(`data-state="${state}"`);
});
