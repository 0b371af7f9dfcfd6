"""JSON as the server takes and gives it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Any, TypeVar, cast

from ._contract import LONG_FIELDS, PARTS
from ._errors import RecalldError, invalid

T = TypeVar("T")

# Fields that every answer has from its headers.
ANSWERED = ("request_id", "replayed")
MASKS = ("fields", "update_mask")
# Where a time may stand: fields of the request and of its memories, but nothing within metadata or a filter.
OWN_FIELD = re.compile(r"((memories\[\d+\]|recency)\.)?\w+")


def to_wire(request: Mapping[str, object]) -> bytes:
    """Writes a request.

    Times, durations and lists of fields become the strings that JSON has for them. What JSON cannot hold is
    refused, because the server would store something else than was meant.
    """
    try:
        plain = _object(request, "")
    except RecursionError as error:
        raise RecalldError("invalid_argument", "the request is nested too deeply, or holds itself") from error
    for name in MASKS:
        if isinstance(plain.get(name), list):
            plain[name] = _joined(name, cast("list[object]", plain[name]))
    try:
        return _json(plain, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # A lone surrogate: the server refuses it, and names the field.
        return _json(plain, ensure_ascii=True).encode()


def _json(plain: object, *, ensure_ascii: bool) -> str:
    return json.dumps(plain, ensure_ascii=ensure_ascii, allow_nan=False, separators=(",", ":"))


def _joined(name: str, paths: list[object]) -> str:
    if not all(isinstance(path, str) for path in paths):
        raise invalid(name, f"{name} must be a list of strings")
    return ",".join(cast("list[str]", paths))


def _object(value: Mapping[Any, object], path: str) -> dict[str, object]:
    for key in value:
        if not isinstance(key, str):
            said = f"{path or 'the request'} has the key {key!r}; a key of JSON is a string"
            raise invalid(path, said)
    return {key: _plain(each, f"{path}.{key}" if path else key) for key, each in value.items()}


def _plain(value: object, path: str) -> object:
    """Returns the same as JSON's own types. Anything that would come back as something else is refused."""
    if value is None or isinstance(value, (str, bool)):
        return value
    kind = type(value).__name__
    if isinstance(value, float) and not math.isfinite(value):
        raise invalid(path, f"{path} is {value}, which JSON does not have")
    if isinstance(value, (int, float)):
        if not _is_double(value):
            raise invalid(path, f"{path} is a number that a double cannot hold, so it would come back as another")
        return value
    if isinstance(value, datetime) and OWN_FIELD.fullmatch(path):
        if value.tzinfo is None:
            raise invalid(path, f"{path} is a datetime without a time zone, which is no moment: give it one")
        try:
            moment = value.astimezone(timezone.utc)
        except OverflowError as error:
            raise invalid(path, f"{path} is a datetime outside the years 1 to 9999 of UTC") from error
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, timedelta) and OWN_FIELD.fullmatch(path):
        return f"{value.total_seconds():.6f}s"
    if isinstance(value, Mapping):
        return _object(cast("Mapping[Any, object]", value), path)
    # Bytes are sequences of numbers, and would come back as those.
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [_plain(each, f"{path}[{n}]") for n, each in enumerate(cast("Sequence[object]", value))]
    raise invalid(path, f"{path} is of the type {kind}, which JSON does not have")


def _is_double(value: float) -> bool:
    try:
        return float(value) == value
    except OverflowError:
        return False


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
        if None in value:
            raise TypeError("a list has null")
        return tuple(_field(part, "", each) for each in cast("list[object]", value))
    if part is not None:
        return cast(object, from_wire(part, value))
    # JSON has 64-bit numbers as strings.
    return int(value) if name in LONG_FIELDS and isinstance(value, str) else value


def message_of(kind: type[T], value: object, *, request_id: str, status: int | None = None, **further: object) -> T:
    """Reads a message that only a recalld server writes."""
    try:
        read = from_wire(kind, value, **further)
        _check_first(read, cast("dict[str, Any]", value))
        return read
    except (TypeError, ValueError) as error:
        message = f"the answer is not recalld's: {error}"
        raise RecalldError("unknown", message, request_id=request_id, status=status) from error


def _check_first(message: object, value: dict[str, Any]) -> None:
    """Checks the first field: every version of the server has it, and another server may answer anything with {}."""
    first = next(each for each in fields(cast(Any, message)) if each.name not in ANSWERED)
    if first.name not in value or (
        first.default is not MISSING and type(getattr(message, first.name)) is not type(first.default)
    ):
        raise TypeError(f"its {first.name} is {value.get(first.name)!r}")


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
