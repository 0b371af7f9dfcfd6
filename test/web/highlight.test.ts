import { describe, expect, it } from "vitest";
import { highlight } from "../../web/src/code/highlight.js";
import { samplesOf } from "../../web/src/start/samples.js";

const FILLING = { url: "http://localhost:8080", key: "rcl_<&'\">", namespace: "n&lt;<b>", stores: true };

describe("the colours of the portal's code", () => {
  it.each(samplesOf(FILLING).map((sample) => [sample.name, sample] as const))(
    "change no character of the sample in %s",
    (_name, { code, language }) => {
      const tokens = highlight(code, language);
      expect(tokens.map(({ text }) => text).join("")).toBe(code);
      expect(tokens.some(({ className }) => className?.startsWith("hljs-string"))).toBe(true);
    },
  );

  it("tell a program from the shell around it", () => {
    const [, typeScript] = samplesOf(FILLING);
    const tokens = highlight(typeScript?.code ?? "", "typescript");
    const classOf = (word: string) => tokens.find(({ text }) => text === word)?.className;
    expect(classOf("import")).toBe("hljs-keyword");
    expect(classOf("cd")).toBe("hljs-built_in");
  });

  it("are left out of what is long", () => {
    const text = JSON.stringify("<i>".repeat(20_000));
    expect(highlight(text, "json")).toEqual([{ text, className: undefined }]);
  });
});
