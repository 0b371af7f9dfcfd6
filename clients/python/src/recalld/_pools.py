"""Connections of a client, apart for each process and each event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Generic, TypeVar, Union

import httpx
from anyio.lowlevel import RunVar

from ._errors import RecalldError

H = TypeVar("H", bound=Union[httpx.Client, httpx.AsyncClient])

Place = tuple[int, object]
"""A process, and the event loop if there is one."""

# Under trio, what stands for a loop.
_LOOP_OF_TRIO = RunVar[object]("recalld")
# Streams of other places. They are kept, because to end them would disturb their connections there.
LEFT: list[object] = []


def process() -> Place:
    """Tracks where a client is that waits."""
    return os.getpid(), None


def event_loop() -> Place:
    """Tracks where a client is that awaits."""
    try:
        return os.getpid(), asyncio.get_running_loop()
    except RuntimeError:
        loop = _LOOP_OF_TRIO.get(None) or object()
        _LOOP_OF_TRIO.set(loop)
        return os.getpid(), loop


class Pools(Generic[H]):
    """Gives each place its own connections, because a process or loop must not use another's.

    Those of other processes are kept and never closed: a child that closed what it inherited could end
    what its parent still uses.
    """

    def __init__(self, given: H | None, make: Callable[[], H], place: Callable[[], Place]) -> None:
        self.place = place
        self._given = given
        self._given_at: Place | None = None
        self._make = make
        self._own: dict[Place, H] = {}

    def here(self) -> H:
        """Gives the connections of this place."""
        place = self.place()
        if self._given is not None:
            self._given_at = self._given_at or place
            if self._given_at != place:
                message = "http_client was used in another process or event loop: make a client with a new http_client here"
                raise RecalldError("failed_precondition", message)
        found = self._given or self._own.get(place)
        if found is None:
            self._forget_ended_loops()
            # There is no lock, because a fork may copy one that is held.
            found = self._own.setdefault(place, self._make())
        if found.is_closed:
            raise RecalldError("failed_precondition", "the client is closed: make another")
        return found

    def own(self) -> H | None:
        """Gives what `close()` has to close here."""
        return self._own.get(self.place())

    def _forget_ended_loops(self) -> None:
        for pid, loop in list(self._own):
            if pid == os.getpid() and isinstance(loop, asyncio.AbstractEventLoop) and loop.is_closed():
                self._own.pop((pid, loop), None)
