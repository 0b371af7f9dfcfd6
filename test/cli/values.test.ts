import { expect, it } from "vitest";
import { filterGiven, metadataGiven, textGiven } from "../../cli/values.js";

it("JSON on the command line has no key twice, as in the API", () => {
  expect(() => metadataGiven(['{"a":1,"a":2}'])).toThrow("--metadata: a is given twice");
  expect(() => metadataGiven(['a={"b":[{"c":1,"\\u0063":2}]}'])).toThrow(
    "--metadata a: b[0].c is given twice",
  );
  expect(() => filterGiven('{"a":1,"a":2}')).toThrow("--filter: a is given twice");
  expect(() => metadataGiven(["n=12345678901234567890"])).toThrow(
    "--metadata n: it has the integer 1234567890",
  );
  expect({ ...metadataGiven(['{"a":{"b":1},"b":[1,"a"]}']) }).toEqual({ a: { b: 1 }, b: [1, "a"] });
  expect({ ...metadataGiven(["a=1", "b=tea", 'c="1, 2"', "d=1.00000000000000005"]) }).toEqual({
    a: 1,
    b: "tea",
    c: "1, 2",
    d: 1,
  });
});

it("a JSON object of metadata stands alone, also with = in one of its values", () => {
  const both = ['{"url":"https://example.org/?a=b"}', "n=1"];
  expect(() => metadataGiven(both)).toThrow("give key=value, or one JSON object");
  expect({ ...metadataGiven(both.slice(0, 1)) }).toEqual({ url: "https://example.org/?a=b" });
});

it("a text of the line that Node could not decode is refused, as a file's is", async () => {
  // What Node makes of the bytes of "Café" in Latin-1.
  await expect(textGiven(["one", "Caf\ufffd"], undefined)).rejects.toThrow("is not UTF-8");
  expect(await textGiven(["one", "Café"], undefined)).toBe("one Café");
});
