import { expect, it, onTestFinished, vi } from "vitest";
import { redirectTo } from "../../web/src/authorize/redirect-to.js";
import { parseMetadata } from "../../web/src/playground/metadata.js";

it.each(["1234567890123456789", "1e999", "-0", "NaN"])("the portal takes no metadata with %s", (number) => {
  expect(parseMetadata(`{"a": [${number}]}`)).toContain(`The number ${number} would come back as another`);
  expect(parseMetadata(`{"a": "${number}", "n": 1e20}`)).toEqual({ a: number, n: 1e20 });
});

it("the portal goes to an application's address, but to none that runs in the page", () => {
  const assign = vi.fn();
  vi.stubGlobal("location", { href: "http://memory.example/authorize", assign });
  onTestFinished(() => void vi.unstubAllGlobals());
  for (const address of [
    "javascript:alert(1)",
    " JavaScript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,x",
  ])
    expect(() => redirectTo(address)).toThrow("no place to go to");
  expect(assign).not.toHaveBeenCalled();
  for (const address of ["https://app.example/back?code=1", "cursor://back?code=1"]) redirectTo(address);
  expect(assign.mock.calls.flat()).toEqual(["https://app.example/back?code=1", "cursor://back?code=1"]);
});
