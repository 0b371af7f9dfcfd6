"""JSON as the server takes and gives it."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Any, TypeVar, cast

from ._contract import LONG_FIELDS, PARTS
from ._errors import RecalldError, invalid

T = TypeVar("T")

MASKS = ("fields", "update_mask")


def to_wire(request: Mapping[str, object]) -> bytes:
    """Writes a request. Times, durations and lists of fields become the strings that JSON has for them."""
    joined = {name: _joined(value) if name in MASKS else value for name, value in request.items()}
    try:
        text = json.dumps(joined, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise RecalldError("invalid_argument", f"the request cannot be written as JSON: {error}") from error
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate: the server refuses it, and names the field.
        return json.dumps(joined, default=_plain).encode()


def _joined(value: object) -> object:
    if value is None or isinstance(value, str):
        return value
    return ",".join(cast("Sequence[str]", value))


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise invalid("expire_time", "a datetime without a time zone is no moment: give it one")
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return f"{value.total_seconds():.6f}s"
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    if isinstance(value, Sequence):
        return list(cast("Sequence[object]", value))
    raise TypeError(f"{type(value).__name__} is no type of JSON")


def from_wire(kind: type[T], value: object, **further: object) -> T:
    """Reads a message. Fields that this version does not know are dropped; metadata stays as it is."""
    if not isinstance(value, dict):
        raise TypeError(f"{kind.__name__} is {value!r}")
    names = _names_of(cast(Hashable, kind))
    parts = PARTS.get(kind, {})
    known = {
        name: _field(parts.get(name), name, each)
        for name, each in cast("dict[str, Any]", value).items()
        if name in names and each is not None
    }
    return kind(**{**known, **further})


@lru_cache(maxsize=None)
def _names_of(kind: Hashable) -> frozenset[str]:
    return frozenset(each.name for each in fields(cast(Any, kind)))


def _field(part: type | None, name: str, value: object) -> object:
    if name == "metadata":
        return value
    if isinstance(value, list):
        return tuple(_field(part, "", each) for each in cast("list[object]", value))
    if part is not None:
        return cast(object, from_wire(part, value))
    # JSON has 64-bit numbers as strings.
    return int(value) if name in LONG_FIELDS and isinstance(value, str) else value


def message_of(kind: type[T], value: object, *, request_id: str, status: int | None = None, **further: object) -> T:
    """Reads a message that only a recalld server writes."""
    try:
        return from_wire(kind, value, **further)
    except (TypeError, ValueError) as error:
        message = f"the answer is not recalld's: {error}"
        raise RecalldError("unknown", message, request_id=request_id, status=status) from error


def parsed(text: str | bytes, *, request_id: str, status: int | None = None) -> dict[str, Any]:
    """Reads a JSON object that only a recalld server writes."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    # Such as a proxy's page for signing in: asking again would not help.
    message = "the answer is not JSON, so it is not recalld's"
    raise RecalldError("unknown", message, request_id=request_id, status=status)
