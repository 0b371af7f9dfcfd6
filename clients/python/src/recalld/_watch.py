"""Changes of a namespace, as they happen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Union

from ._call import RETRY_AFTER_MAX, pause
from ._contract import Memory
from ._effects import Emit, Pause, Steps
from ._errors import RecalldError
from ._options import Settings
from ._refusal import error_of
from ._stream import Lines, ServerEvent, Wanted, next_event, open_stream
from ._wire import message_of, parsed, to_wire

GIVE_UP_AFTER = 300.0
# The server gives a sign of life every 15 seconds: three that are missing are a broken connection.
SILENCE = 45.0


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A memory was stored, or is a new version of one."""

    position: str
    """Where a watch goes on after this event, on any replica."""

    memory: Memory
    type: Literal["stored"] = "stored"


@dataclass(frozen=True, kw_only=True)
class Deleted:
    """A memory was forgotten."""

    position: str
    id: str
    type: Literal["deleted"] = "deleted"


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """The namespace was dropped with all that it held."""

    position: str
    type: Literal["dropped"] = "dropped"


@dataclass(frozen=True, kw_only=True)
class Heartbeat:
    """Nothing happened for 15 seconds, or the watch begins here."""

    position: str
    type: Literal["heartbeat"] = "heartbeat"


WatchEvent = Union[Stored, Deleted, Dropped, Heartbeat]


def watch(request: Mapping[str, Any], settings: Settings, give_up_after: float) -> Steps[None]:
    """Yields a namespace's changes. A watch that breaks goes on after the last event that was told."""
    # It is sent as parts of a URL; this refuses what would be written there as something else.
    to_wire(request)
    position: str | None = request.get("position")
    broken_at: float | None = None
    has_begun = False
    failures = 0
    while True:
        wait = pause(failures)
        try:
            # Once it has begun, this loop is what tries again.
            tried = replace(settings, retries=0) if has_begun else settings
            query = {} if position is None else {"position": position}
            lines = yield from open_stream(Wanted("events", request.get("namespace", ""), query, SILENCE), tried)
            has_events = False
            while (event := (yield from next_event(lines))) is not None:
                has_events = True
                read = _event_of(event, lines)
                if read is None:
                    continue
                has_begun, failures, broken_at, position = True, 0, None, read.position
                yield Emit(read)
            if not has_events:
                # Such as a proxy's page: it would be asked for again for ever, and nobody would know.
                message = "the watch ended before its first event"
                raise RecalldError("unavailable", message, request_id=lines.request_id)
        except RecalldError as error:
            if not error.retryable or not has_begun:
                raise
            broken_at = settings.now() if broken_at is None else broken_at
            if settings.now() - broken_at >= give_up_after:
                raise
            wait = pause(failures, min(error.retry_after or 0.0, RETRY_AFTER_MAX))
        # Also where the server stops, and said so.
        yield Pause(wait)
        failures += 1


def _event_of(event: ServerEvent, lines: Lines) -> WatchEvent | None:
    """Reads an event; None if it is of a kind that this version does not know."""
    position = event.id
    if event.name == "":
        return Heartbeat(position=position)
    if event.name == "dropped":
        return Dropped(position=position)
    if event.name not in ("stored", "deleted", "failure"):
        return None
    data = parsed(event.data, request_id=lines.request_id)
    if event.name == "failure":
        raise error_of(data, request_id=lines.request_id)
    if event.name == "deleted":
        return Deleted(position=position, id=str(data.get("id", "")))
    return Stored(position=position, memory=message_of(Memory, data, request_id=lines.request_id))
