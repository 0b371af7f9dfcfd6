"""Items as memories: the key is the external id, the value the metadata, and what queries find the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from langgraph.store.base import SearchItem, get_text_at_path

from .._contract import Memory, RecallResult, StoreItem
from .._errors import RecalldError
from ._names import Path, id_of, key_of

# Key in the metadata of what no query finds. Filters ask for it, so a value cannot have it.
UNINDEXED = "recalld_unindexed"
# Text of what has none to search by: a memory cannot be without.
_NO_TEXT = "(not indexed)"


def memory_of(
    key: str, value: Mapping[str, Any], fields: Sequence[str] | Literal[False], ttl: float | None
) -> StoreItem:
    """Makes the memory that an item is kept as. Its time to live is in minutes."""
    if UNINDEXED in value:
        message = f"a value has no key {UNINDEXED}: the store uses it"
        raise RecalldError("invalid_argument", message, field="value")
    text = "\n".join(text for path in fields or () for text in get_text_at_path(value, path))
    is_blank = text.strip() == ""
    item: StoreItem = {
        "text": _NO_TEXT if is_blank else text,
        "external_id": id_of(key),
        "on_conflict": "REPLACE",
        "metadata": {**value, UNINDEXED: True} if is_blank else dict(value),
    }
    if ttl is not None:
        item["ttl"] = timedelta(minutes=ttl)
    return item


def item_of(namespace: Path, memory: Memory | RecallResult) -> SearchItem | None:
    """Makes the item of a memory; None if this store did not write it."""
    key = key_of(memory.external_id or "")
    if key is None:
        return None
    created_at = memory.created_at or ""
    return SearchItem(
        namespace=namespace,
        key=key,
        value={name: value for name, value in (memory.metadata or {}).items() if name != UNINDEXED},
        created_at=_time(created_at),
        updated_at=_time(memory.updated_at or created_at),
        score=memory.score if isinstance(memory, RecallResult) else None,
    )


def _time(text: str) -> datetime:
    # Python 3.10 reads no Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
