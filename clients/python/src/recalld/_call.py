"""Calls that have one answer, and what is tried again."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from ._contract import DELETE_MEMORY, A, DeleteMemoryResponse, Method
from ._effects import Pause, Reply, Send, Steps
from ._errors import RecalldError
from ._options import Settings
from ._refusal import refusal_of
from ._wire import message_of, parsed, to_wire

T = TypeVar("T")

# Pause before the second attempt, in seconds; each further one is twice as long.
PAUSE = 0.25
PAUSE_MAX = 8.0
# Longest pause that a server may ask for: beyond it, the caller of a call decides.
RETRY_AFTER_MAX = 60.0


def call(method: Method[A], request: Mapping[str, object], settings: Settings) -> Steps[A]:
    """Calls a method, again if it fails in a way that may pass."""
    headers = {
        **settings.headers,
        "content-type": "application/json",
        # The server gives up when nobody waits any more.
        "connect-timeout-ms": str(max(1, round(settings.timeout * 1000))),
    }
    if method.writes:
        headers["idempotency-key"] = settings.idempotency_key
    url = f"{settings.base_url}/recalld.v1.MemoryService/{method.name}"
    sent = Send(url, headers, to_wire(request), settings.timeout)

    def attempt() -> Steps[A]:
        reply: Reply = yield sent
        return _answer_of(method, reply, settings.request_id)

    return (yield from with_retries(settings, attempt))


def delete(request: Mapping[str, object], settings: Settings) -> Steps[DeleteMemoryResponse]:
    """Forgets a memory. One that is gone once an earlier attempt's answer was lost is no error."""
    try:
        return (yield from call(DELETE_MEMORY, request, settings))
    except RecalldError as error:
        if error.code != "not_found" or error.attempts == 1:
            raise
        request_id = error.request_id or ""
        return DeleteMemoryResponse(id=str(request.get("id")), request_id=request_id, replayed=True)


def _answer_of(method: Method[A], reply: Reply, request_id: str) -> A:
    if reply.status != 200:
        raise refusal_of(reply, request_id)
    request_id = reply.headers.get("x-request-id", request_id)
    body = parsed(reply.body, request_id=request_id, status=reply.status)
    answer = message_of(method.answer, body, request_id=request_id, status=reply.status)
    replayed = reply.headers.get("idempotent-replayed") == "true"
    return replace(answer, request_id=request_id, replayed=replayed)


def with_retries(settings: Settings, attempt: Callable[[], Steps[T]]) -> Steps[T]:
    """Does something again while it fails in a way that may pass."""
    attempts = 1
    while True:
        try:
            return (yield from attempt())
        except RecalldError as error:
            error.attempts = attempts
            error.request_id = error.request_id or settings.request_id
            retry_after = error.retry_after or 0.0
            if not error.retryable or attempts > settings.retries or retry_after > RETRY_AFTER_MAX:
                raise
        yield Pause(pause(attempts - 1, retry_after))
        attempts += 1


def pause(failures: int, retry_after: float = 0.0) -> float:
    """Returns how long to wait: never shorter than the server asks, and not as long as others that failed then."""
    longest = min(PAUSE_MAX, PAUSE * 2.0 ** min(failures, 16))
    return retry_after + longest * random.uniform(0.5, 1)
