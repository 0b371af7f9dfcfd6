"""The store, for graphs that wait and for those that await."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from .._async import AsyncRecalld, carry_out_awaiting
from .._effects import Steps
from .._options import Settings
from .._sync import Recalld, carry_out
from ._read import read_all, search
from ._spaces import Calls, paths_of
from ._write import write_all

_ROOT = "langgraph"
_WHOLE_VALUE = ("$",)


class RecalldStore(BaseStore):
    """LangGraph's store over recalld. It answers as InMemoryStore with an index does.

    The namespace `("users", "42")` is recalld's `langgraph/users/42`, an item is a memory, its key the
    external id, and its value the metadata. What recalld refuses is raised as a RecalldError.

    Calls that await are made by `async_recalld`; without it, `recalld` makes them in a thread.
    """

    supports_ttl = True

    def __init__(
        self,
        recalld: Recalld,
        *,
        async_recalld: AsyncRecalld | None = None,
        root: str = _ROOT,
        fields: Sequence[str] = _WHOLE_VALUE,
        default_ttl: float | None = None,
    ) -> None:
        """Opens a store.

        `root` is the first part of the names of all namespaces; empty means none. `fields` are the paths of
        what queries find, as LangGraph writes them. `default_ttl` is how many minutes an item lives after it
        was written; reading does not prolong it.
        """
        super().__init__()
        self._recalld = recalld
        self._async_recalld = async_recalld
        self._root = root
        self._fields = fields
        self.ttl_config: TTLConfig | None = {
            "refresh_on_read": False,
            "omit_expired": True,
            "default_ttl": default_ttl,
        }

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Does several operations. What they read is as of before what they write."""
        return carry_out(self._recalld, self._steps(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Does several operations, as `batch` does."""
        if self._async_recalld is None:
            return await asyncio.to_thread(self.batch, list(ops))
        return await carry_out_awaiting(self._async_recalld, self._steps(list(ops)))

    def _steps(self, ops: list[Op]) -> Callable[[Callable[[], Settings]], Steps[list[Result]]]:
        for op in ops:
            validate_op_namespace(op)
        return lambda settle: _batch(Calls(self._root, settle), ops, self._fields)


def _batch(calls: Calls, ops: list[Op], fields: Sequence[str]) -> Steps[list[Result]]:
    items = yield from read_all(calls, [op for op in ops if isinstance(op, GetOp)])
    results: list[Result] = []
    for op in ops:
        result: Any = None
        if isinstance(op, GetOp):
            result = items.get((op.namespace, op.key))
        elif isinstance(op, SearchOp):
            result = yield from search(calls, op)
        elif isinstance(op, ListNamespacesOp):
            result = yield from paths_of(calls, op)
        results.append(result)
    yield from write_all(calls, [op for op in ops if isinstance(op, PutOp)], fields)
    return results
