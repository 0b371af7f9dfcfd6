"""The namespaces of a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from langgraph.store.base import ListNamespacesOp, MatchCondition

from .._call import call
from .._contract import LIST_NAMESPACES, Method
from .._effects import Steps
from .._errors import RecalldError
from .._options import Settings
from ._names import Path, name_of, path_of

A = TypeVar("A")

# Most namespaces that are read to answer one operation.
_NAMESPACES_MAX = 10_000
_PAGE_SIZE = 100


@dataclass(frozen=True)
class Space:
    """A namespace: what recalld names it, and its path."""

    name: str
    path: Path


@dataclass(frozen=True)
class Calls:
    """Makes the calls of one batch."""

    root: str
    """First part of the names of all namespaces; empty means none."""

    settle: Callable[[], Settings]

    def call(self, method: Method[Any], request: Mapping[str, object]) -> Steps[Any]:
        """Calls a method."""
        return call(method, request, self.settle())


def spaces_within(calls: Calls, path: Path) -> Steps[list[Space]]:
    """Finds the namespaces at and below a path that hold something, in the order of their names."""
    name = name_of(calls.root, path)
    own: list[Space] = []
    if name != "":
        # Names that only begin alike, such as `users/420`, stand between this one and those below it.
        own = yield from _listed(calls, name, first=True)
    below = yield from _listed(calls, "" if name == "" else f"{name}/")
    return [each for each in own if each.name == name] + below


def paths_of(calls: Calls, op: ListNamespacesOp) -> Steps[list[Path]]:
    """Finds the paths of the namespaces that hold something and meet all conditions."""
    conditions = op.match_conditions or ()
    spaces = yield from spaces_within(calls, _start(conditions))
    paths = [each.path for each in spaces if all(_matches(one, each.path) for one in conditions)]
    found = sorted({path[: op.max_depth] for path in paths})
    return found[op.offset : op.offset + op.limit]


def _start(conditions: Sequence[MatchCondition]) -> Path:
    """Returns the labels that all paths begin with."""
    prefix = next((tuple(each.path) for each in conditions if each.match_type == "prefix"), ())
    return prefix[: prefix.index("*")] if "*" in prefix else prefix


def _matches(condition: MatchCondition, path: Path) -> bool:
    wanted = tuple(condition.path)
    if len(wanted) > len(path):
        return False
    part = path[: len(wanted)] if condition.match_type == "prefix" else path[len(path) - len(wanted) :]
    return all(one in ("*", other) for one, other in zip(wanted, part))


def _listed(calls: Calls, prefix: str, *, first: bool = False) -> Steps[list[Space]]:
    found: list[Space] = []
    token = ""
    while True:
        size = 1 if first else _PAGE_SIZE
        page = yield from calls.call(
            LIST_NAMESPACES, {"prefix": prefix, "page_size": size, "page_token": token}
        )
        for each in page.namespaces:
            path = path_of(calls.root, each.namespace)
            if path is not None and each.memories > 0:
                found.append(Space(each.namespace, path))
        token = page.next_page_token
        if first or token == "":
            return found
        if len(found) > _NAMESPACES_MAX:
            message = f"there are more than {_NAMESPACES_MAX} namespaces below {prefix}: give a longer prefix"
            raise RecalldError("out_of_range", message, field="prefix")
