import type { DescService } from "@bufbuild/protobuf";
import { commentOf } from "../openapi/contract.js";
import { constantOf, docOf, snake } from "./python.js";
import { unary } from "./types.js";

const CALLS_HEAD = `"""The calls that have one answer. Generated from proto/ by scripts/generate-client.ts."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping

from ._contract import (
NAMES)
from ._options import CallOptions

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack
`;

/** Names of methods that are not those of the contract: each is about memories unless it says otherwise. */
const NAMES: Readonly<Record<string, string>> = {
  GetMemory: "get",
  UpdateMemory: "update",
  DeleteMemory: "delete",
  CountMemories: "count",
};

/** Writes _calls.py: each call twice, for programs that wait and for those that await. */
export function pythonCalls(service: DescService): string {
  // A list is iterated over.
  const called = unary(service).filter(({ name }) => !name.startsWith("List"));
  const classes = [false, true].map((isAsync) => {
    const calls = called.map((method) => call(method, isAsync));
    const prefix = isAsync ? "async " : "";
    return `class ${isAsync ? "Async" : ""}Calls(ABC):
    """Calls of one server${isAsync ? ", to await" : ""}."""

    @abstractmethod
    ${prefix}def _call(
        self, method: Method[A], request: Mapping[str, object], options: CallOptions | None
    ) -> A: ...

${calls.join("\n")}`;
  });
  const names = called.flatMap(({ name, input, output }) => [constantOf(name), input.name, output.name]);
  const imports = ["A", "Method", ...names].sort().map((name) => `    ${name},\n`);
  return [CALLS_HEAD.replace("NAMES", imports.join("")), ...classes].join("\n\n");
}

function call(method: DescService["methods"][number], isAsync: boolean): string {
  const { name, input, output } = method;
  const own = NAMES[name] ?? snake(name);
  const paragraphs = commentOf(method)
    .split("\n\n")
    .filter((paragraph) => !paragraph.startsWith("Also served as"));
  return `    ${isAsync ? "async " : ""}def ${own}(
        self, *, options: CallOptions | None = None, **request: Unpack[${input.name}]
    ) -> ${output.name}:
${docOf(paragraphs.join("\n\n"), "        ")}        return ${isAsync ? "await " : ""}self._call(${constantOf(name)}, request, options)
`;
}
