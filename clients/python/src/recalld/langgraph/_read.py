"""Operations that read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from langgraph.store.base import GetOp, Item, SearchItem, SearchOp

from .._contract import LIST_MEMORIES, RECALL, Memory, Metadata
from .._effects import Steps
from .._errors import RecalldError
from ._filters import filters_of
from ._items import UNINDEXED, item_of
from ._names import Path, id_of, name_of
from ._spaces import Calls, Space, spaces_within

# Keys that one list is asked for: a filter has 65,536 bytes at most.
_KEYS_MAX = 100
_PAGE_SIZE = 100
# Results that one recall gives.
_TOP_MAX = 20
# Farthest result of a search by meaning: further recalls leave out the ids that came before, of which a
# filter takes 256.
_RANKED_MAX = 256
# Most namespaces that a search by meaning recalls from: each is a call.
_RANKED_NAMESPACES_MAX = 100


def read_all(calls: Calls, ops: Iterable[GetOp]) -> Steps[dict[tuple[Path, str], Item]]:
    """Reads items by their namespaces and keys, with one list for all keys of a namespace."""
    keys: dict[Path, dict[str, None]] = {}
    for op in ops:
        if op.namespace:
            keys.setdefault(op.namespace, {})[id_of(op.key)] = None
    items: dict[tuple[Path, str], Item] = {}
    for path, ids in keys.items():
        rest = list(ids)
        while rest:
            part, rest = rest[:_KEYS_MAX], rest[_KEYS_MAX:]
            space = Space(name_of(calls.root, path), path)
            found = yield from _listed(calls, space, [{"$external_id": {"$in": part}}], len(part))
            items.update(((path, item.key), _unscored(item)) for item in found)
    return items


def search(calls: Calls, op: SearchOp) -> Steps[list[SearchItem]]:
    """Finds items: the nearest to a query, or without one all that match, the oldest first."""
    end = op.offset + op.limit
    if op.limit <= 0:
        return []
    if op.query and end > _RANKED_MAX:
        raise _beyond("limit", f"limit and offset are {end} together", _RANKED_MAX)
    spaces = yield from spaces_within(calls, op.namespace_prefix)
    wanted = _Wanted(spaces, [{"$external_id": {"$exists": True}}, *filters_of(op.filter)])
    if not op.query:
        return (yield from _list_items(calls, wanted, op.offset, op.limit))
    if len(spaces) > _RANKED_NAMESPACES_MAX:
        raise _beyond("namespace_prefix", f"the query is for {len(spaces)} namespaces", _RANKED_NAMESPACES_MAX)
    ranked = yield from _rank(calls, wanted, op.query, end)
    shown = ranked[op.offset : end]
    # What no query finds comes last, without a score.
    unindexed = _Wanted(spaces, [*wanted.filters, {UNINDEXED: True}])
    missing = op.limit - len(shown)
    rest = yield from _list_items(calls, unindexed, max(0, op.offset - len(ranked)), missing)
    return shown + rest


@dataclass(frozen=True)
class _Wanted:
    spaces: Sequence[Space]
    filters: list[Metadata]


def _list_items(calls: Calls, wanted: _Wanted, offset: int, limit: int) -> Steps[list[SearchItem]]:
    items: list[SearchItem] = []
    for space in wanted.spaces:
        if len(items) >= offset + limit:
            break
        items += yield from _listed(calls, space, wanted.filters, offset + limit - len(items))
    return items[offset : offset + limit]


def _listed(calls: Calls, space: Space, filters: list[Metadata], most: int) -> Steps[list[SearchItem]]:
    """Lists items of one namespace, the oldest first."""
    items: list[SearchItem] = []
    token = ""
    while len(items) < most:
        request = {
            "namespace": space.name,
            "filter": {"$and": filters},
            "order": "OLDEST_FIRST",
            "page_size": min(_PAGE_SIZE, most - len(items)),
            "page_token": token,
        }
        page = yield from calls.call(LIST_MEMORIES, request)
        memories: tuple[Memory, ...] = page.memories
        items += [item for item in (item_of(space.path, each) for each in memories) if item is not None]
        token = page.next_page_token
        if token == "":
            break
    return items


def _rank(calls: Calls, wanted: _Wanted, query: str, end: int) -> Steps[list[SearchItem]]:
    items: list[SearchItem] = []
    for space in wanted.spaces:
        items += yield from _rank_in(calls, space, wanted.filters, query, end)
    return sorted(items, key=lambda item: item.score or 0, reverse=True)


def _rank_in(
    calls: Calls, space: Space, filters: list[Metadata], query: str, end: int
) -> Steps[list[SearchItem]]:
    items: list[SearchItem] = []
    seen: list[str] = []
    while len(items) < end and len(seen) < _RANKED_MAX:
        top_k = min(_TOP_MAX, end - len(items))
        others: list[Metadata] = [{"$id": {"$nin": list(seen)}}] if seen else []
        request = {
            "namespace": space.name,
            "query": query,
            "top_k": top_k,
            "mode": "COSINE",
            "filter": {"$and": [*filters, {UNINDEXED: {"$exists": False}}, *others]},
        }
        answer = yield from calls.call(RECALL, request)
        for result in answer.results:
            seen.append(result.id)
            item = item_of(space.path, result)
            if item is not None:
                items.append(item)
        if len(answer.results) < top_k:
            break
    return items


def _unscored(item: SearchItem) -> Item:
    return Item(
        value=item.value,
        key=item.key,
        namespace=item.namespace,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def _beyond(field: str, what: str, most: int) -> RecalldError:
    return RecalldError("out_of_range", f"{what}; a search by meaning has at most {most}", field=field)
