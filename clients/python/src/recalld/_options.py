"""Options of the client and of single calls."""

from __future__ import annotations

import re
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from ._errors import invalid

if sys.version_info >= (3, 12):
    from typing import TypedDict
else:
    from typing_extensions import TypedDict

TIMEOUT = 35.0
TIMEOUT_MAX = (2**31 - 1) / 1000
RETRIES = 2
RETRIES_MAX = 10


class CallOptions(TypedDict, total=False):
    """Options of one call: its own, and those that win over the client's."""

    api_key: str
    base_url: str
    timeout: float
    """Seconds that one attempt may take."""

    retries: int
    headers: Mapping[str, str]
    idempotency_key: str
    """Key under which a write is done once, however often it is sent; the client makes one if it is left out."""

    request_id: str
    """Id of the call in the server's log; the client makes one if it is left out."""


@dataclass(frozen=True)
class Defaults:
    """Options of a client, before a call's own are joined with them."""

    api_key: str
    base_url: str
    timeout: float = TIMEOUT
    retries: int = RETRIES
    headers: Mapping[str, str] | None = None
    now: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class Settings:
    """Options of one call, complete and checked."""

    base_url: str
    timeout: float
    retries: int
    headers: Mapping[str, str]
    """Headers that every request of the call has."""

    idempotency_key: str
    request_id: str
    now: Callable[[], float]


def settle(defaults: Defaults, options: CallOptions | None = None) -> Settings:
    """Joins the client's options with those of one call."""
    own: CallOptions = options or {}
    names = CallOptions.__annotations__
    for name in own:
        # A misspelt one would be as if it were left out.
        if name not in names:
            raise invalid(name, f"{name} is no option; there are {', '.join(names)}")
    request_id = own.get("request_id", secrets.token_hex(16))
    idempotency_key = own.get("idempotency_key", secrets.token_hex(16))
    further = {**_headers(defaults.headers or {}), **_headers(own.get("headers", {}))}
    headers = {
        **further,
        "authorization": f"Bearer {_key(own.get('api_key', defaults.api_key))}",
        "x-request-id": _header("request_id", request_id),
    }
    return Settings(
        base_url=_address(own.get("base_url", defaults.base_url)),
        timeout=_within("timeout", own.get("timeout", defaults.timeout), (0.001, TIMEOUT_MAX)),
        retries=int(_within("retries", own.get("retries", defaults.retries), (0, RETRIES_MAX))),
        headers=headers,
        idempotency_key=_header("idempotency_key", idempotency_key),
        request_id=request_id,
        now=defaults.now,
    )


def _key(api_key: object) -> str:
    if isinstance(api_key, str) and re.fullmatch(r"[\x21-\x7e]+", api_key):
        return api_key
    raise invalid("api_key", "api_key must be the key that sign-up gave: a string without spaces")


def _headers(further: object) -> dict[str, str]:
    if not isinstance(further, Mapping):
        raise invalid("headers", "headers must be a mapping of names to values")
    headers: dict[str, str] = {}
    for name, value in cast("Mapping[object, object]", further).items():
        if not isinstance(name, str) or not re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", name, re.ASCII):
            raise invalid("headers", "headers has a name that no header can have")
        headers[name.lower()] = _header("headers", value)
    return headers


def _header(option: str, value: object) -> str:
    """Returns a header's value, without the white space around it, which does not count."""
    if isinstance(value, str) and re.fullmatch(r"[\x20-\x7e]*[\x21-\x7e][\x20-\x7e]*", value):
        return value.strip()
    raise invalid(option, f"{option} must have printable ASCII, because it is sent as a header")


def _address(base_url: object) -> str:
    text = base_url if isinstance(base_url, str) else ""
    try:
        parts = urlsplit(text)
        is_plain = "@" not in parts.netloc and "?" not in text and "#" not in text
        # `port` raises ValueError if it is no number.
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_plain = is_address = False
    if not is_plain or not is_address or re.search(r"[\x00-\x20\x7f]", text):
        raise invalid("base_url", "base_url must be the server's address, such as https://memory.example")
    return text.rstrip("/")


def _within(field: str, value: object, bounds: tuple[float, float]) -> float:
    least, most = bounds
    kinds = int if field == "retries" else (int, float)
    if isinstance(value, kinds) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise invalid(field, f"{field} is {value!r}; it must be a number from {least:,} to {most:,}")
