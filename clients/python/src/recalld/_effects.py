"""What a call wants done, by a client that waits or by one that awaits.

The logic of calls is written once, as generators. They yield one of these and are sent its outcome, or are
thrown the RecalldError that it came to. `_sync.py` and `_async.py` carry them out.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, Union

from ._errors import RecalldError

T = TypeVar("T")


@dataclass(frozen=True)
class Reply:
    """An answer; of a stream that was opened, without its body."""

    status: int
    headers: Mapping[str, str]
    """Names are found in any case."""

    body: bytes


@dataclass(frozen=True)
class Send:
    """Sends a request and reads the whole answer. Its outcome is a Reply."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    timeout: float


@dataclass(frozen=True)
class Open:
    """Opens a stream, in place of the one before. Its outcome is a Reply; only a refusal has a body."""

    url: str
    headers: Mapping[str, str]
    timeout: float


@dataclass(frozen=True)
class Read:
    """Reads some bytes of the open stream; None is its end."""

    silence: float
    """Longest wait, in seconds, after which the stream counts as broken."""


@dataclass(frozen=True)
class Pause:
    """Waits."""

    seconds: float


@dataclass(frozen=True)
class Emit:
    """Hands something to the caller, who may stop here."""

    item: Any


Effect = Union[Send, Open, Read, Pause, Emit]
Steps = Generator[Effect, Any, T]


def resume(steps: Steps[Any], outcome: object) -> Effect:
    """Goes on with what an effect came to. At the end, StopIteration has the result."""
    return steps.throw(outcome) if isinstance(outcome, RecalldError) else steps.send(outcome)
