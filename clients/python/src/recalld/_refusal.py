"""Errors that an answer tells."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast, get_args

from ._contract import ErrorCode
from ._effects import Reply
from ._errors import RecalldError

# Codes for answers that are not recalld's own, such as a proxy's: those of the Connect protocol.
BY_STATUS = {
    400: "internal",
    401: "unauthenticated",
    403: "permission_denied",
    404: "unimplemented",
    408: "deadline_exceeded",
    429: "unavailable",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}
# Characters of a foreign answer that the message quotes.
QUOTED_MAX = 200
# A key, which an answer that repeats the request may hold.
KEY = re.compile(r"\brcl_\w+", re.ASCII)


def refusal_of(reply: Reply, request_id: str) -> RecalldError:
    """Reads the error of an answer that is not 200."""
    request_id = reply.headers.get("x-request-id", request_id)
    retry_after = _retry_after(reply.headers.get("retry-after"))
    try:
        refusal: object = json.loads(reply.body)
    except (ValueError, RecursionError):
        # It is not JSON, so it is not recalld that answers.
        refusal = None
    code = _mapping(refusal).get("code")
    # A gateway without a server behind it may have a code of its own, such as ServiceUnavailable.
    is_away = BY_STATUS.get(reply.status) == "unavailable" and code not in get_args(ErrorCode)
    if isinstance(code, str) and not is_away:
        return error_of(
            cast("dict[str, Any]", refusal),
            request_id=request_id,
            status=reply.status,
            retry_after=retry_after,
        )
    quoted = KEY.sub("rcl_…", reply.body.decode(errors="replace")[:QUOTED_MAX])
    return RecalldError(
        BY_STATUS.get(reply.status, "unknown"),
        f"the answer is HTTP {reply.status}, and not recalld's: {quoted}",
        request_id=request_id,
        status=reply.status,
        retry_after=retry_after,
    )


def error_of(
    refusal: Mapping[str, Any],
    *,
    request_id: str,
    status: int | None = None,
    retry_after: float | None = None,
) -> RecalldError:
    """Makes the error of a refusal, wherever it stood."""
    code = str(refusal.get("code", "unknown"))
    found = [_mapping(_mapping(detail).get("debug")) for detail in _list(refusal.get("details"))]
    violations = _first(found, lambda debug: _either(debug, "field_violations", "fieldViolations"))
    field = next((_mapping(each).get("field") for each in _list(violations)), None)
    delay = _first(found, lambda debug: _either(debug, "retry_delay", "retryDelay"))
    if retry_after is None and isinstance(delay, str) and re.fullmatch(r"\d+(\.\d+)?s", delay):
        retry_after = float(delay[:-1])
    return RecalldError(
        code,
        str(refusal.get("message") or code),
        reason=_first(found, lambda debug: debug.get("reason")),
        field=field,
        metadata=_mapping(_first(found, lambda debug: debug.get("metadata"))),
        retry_after=retry_after,
        request_id=request_id,
        status=status,
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _either(debug: Mapping[str, Any], one: str, other: str) -> Any:
    return debug[one] if one in debug else debug.get(other)


def _first(found: list[Mapping[str, Any]], read: Callable[[Mapping[str, Any]], Any]) -> Any:
    return next((value for value in map(read, found) if value is not None), None)


def _retry_after(header: str | None) -> float | None:
    """Reads `Retry-After`: seconds, or a date."""
    if header is None:
        return None
    if re.fullmatch(r"\d+(\.\d+)?", header.strip()):
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
