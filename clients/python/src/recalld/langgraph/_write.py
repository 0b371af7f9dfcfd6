"""Operations that write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from langgraph.store.base import InvalidNamespaceError, PutOp

from .._contract import DELETE_MEMORIES, STORE_BATCH, StoreItem
from .._effects import Steps
from .._errors import RecalldError
from ._items import memory_of
from ._names import Path, id_of, name_of
from ._spaces import Calls

# Memories that one call stores.
_STORES_MAX = 256
# Bytes that one call stores, less than the 8,388,608 that it may have.
_STORE_BYTES_MAX = 8_000_000
# Keys that one call deletes: a filter has 65,536 bytes at most.
_KEYS_MAX = 100


def write_all(calls: Calls, ops: Iterable[PutOp], fields: Sequence[str]) -> Steps[None]:
    """Writes and deletes items; of two operations on one item the last counts.

    All items are checked before the first is written, but it is no transaction: after an error, others may
    have been written.
    """
    stores: dict[Path, list[StoreItem]] = {}
    deletes: dict[Path, list[str]] = {}
    for op in {(op.namespace, op.key): op for op in ops}.values():
        if not op.namespace:
            raise InvalidNamespaceError("Namespace cannot be empty.")
        if op.value is None:
            deletes.setdefault(op.namespace, []).append(id_of(op.key))
        else:
            index = fields if op.index is None else op.index
            stores.setdefault(op.namespace, []).append(memory_of(op.key, op.value, index, op.ttl))
    for path, items in stores.items():
        for part in _calls_of(items):
            yield from _store(calls, name_of(calls.root, path), part)
    for path, ids in deletes.items():
        yield from _delete(calls, name_of(calls.root, path), ids)


def _store(calls: Calls, namespace: str, items: Sequence[StoreItem]) -> Steps[None]:
    def keyed(n: int) -> str:
        return f"{namespace}, key {items[n].get('external_id')}"

    try:
        answer = yield from calls.call(STORE_BATCH, {"namespace": namespace, "memories": items})
    except RecalldError as error:
        # Say of an error about one memory of the call which item it is.
        found = re.match(r"memories\[(\d+)\]", error.field or "")
        if found is None:
            raise
        said = re.sub(r"^memories\[\d+\]\.", "", error.message)
        raise RecalldError(
            error.code,
            f"{keyed(int(found[1]))}: {said}",
            field="value",
            request_id=error.request_id,
            status=error.status,
        ) from error
    for n, result in enumerate(answer.results):
        if result.error is not None:
            code, message, reason = result.error.code, result.error.message, result.error.reason
            raise RecalldError(
                code, f"{keyed(n)}: {message}", reason=reason or None, request_id=answer.request_id
            )


def _delete(calls: Calls, namespace: str, ids: Sequence[str]) -> Steps[None]:
    for at in range(0, len(ids), _KEYS_MAX):
        request = {"namespace": namespace, "filter": {"$external_id": {"$in": ids[at : at + _KEYS_MAX]}}}
        more = True
        while more:
            more = (yield from calls.call(DELETE_MEMORIES, request)).more


def _calls_of(items: Iterable[StoreItem]) -> Iterator[list[StoreItem]]:
    """Cuts memories into calls that are neither too many nor too large."""
    part: list[StoreItem] = []
    size = 0
    for item in items:
        own = _bytes_of(item)
        if part and (len(part) == _STORES_MAX or size + own > _STORE_BYTES_MAX):
            yield part
            part, size = [], 0
        part.append(item)
        size += own
    if part:
        yield part


def _bytes_of(item: Mapping[str, object]) -> int:
    return len(json.dumps(item, default=str).encode())
