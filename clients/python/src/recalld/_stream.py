"""Streams of lines, and of events."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import quote, urlencode

from ._call import with_retries
from ._effects import Open, Read, Reply, Steps
from ._errors import RecalldError, invalid
from ._options import Settings
from ._refusal import refusal_of

# Longest line: a memory of 80 KiB, six times as long where all is escaped, and a thousand vectors.
LINE_CHARACTERS_MAX = 16_777_216


@dataclass(frozen=True)
class Wanted:
    """A stream of a namespace."""

    path: str
    """Path below the namespace: `events`."""

    namespace: str
    query: Mapping[str, str]
    silence: float
    """Longest silence, in seconds, after which the stream counts as broken."""


def open_stream(wanted: Wanted, settings: Settings) -> Steps[Lines]:
    """Opens a stream of lines, again if it fails in a way that may pass."""
    opened = Open(_address_of(wanted, settings), settings.headers, settings.timeout)

    def attempt() -> Steps[Lines]:
        reply: Reply = yield opened
        if reply.status != 200:
            raise refusal_of(reply, settings.request_id)
        return Lines(reply.headers.get("x-request-id", settings.request_id), wanted.silence)

    return (yield from with_retries(settings, attempt))


def _address_of(wanted: Wanted, settings: Settings) -> str:
    namespace = cast(object, wanted.namespace)
    if not isinstance(namespace, str) or namespace == "":
        raise invalid("namespace", "namespace is missing")
    # URLs drop such a part of a path, even if it is encoded.
    if namespace in (".", ".."):
        raise invalid(
            "namespace", f"the namespace {namespace} cannot be in a URL: watch and export need another"
        )
    try:
        named = quote(namespace, safe="")
    except UnicodeEncodeError as error:
        raise invalid("namespace", "namespace has a lone surrogate") from error
    try:
        asked = f"?{urlencode(wanted.query)}" if wanted.query else ""
    except UnicodeEncodeError as error:
        raise invalid("position", "position has a lone surrogate") from error
    return f"{settings.base_url}/namespaces/{named}/{wanted.path}{asked}"


class Lines:
    """Lines of an open stream, without their ends. What comes behind the last end is not told."""

    def __init__(self, request_id: str, silence: float) -> None:
        self.request_id = request_id
        self._silence = silence
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._whole: deque[str] = deque()
        self._pieces: list[str] = []
        self._length = 0

    def next(self) -> Steps[str | None]:
        """Gives the next line, or None at the end."""
        while not self._whole:
            try:
                chunk: bytes | None = yield Read(self._silence)
            except RecalldError as error:
                error.request_id = self.request_id
                raise
            if chunk is None:
                return None
            self._take(self._decoder.decode(chunk))
        return self._whole.popleft()

    def _take(self, text: str) -> None:
        *ended, rest = text.split("\n")
        if ended:
            self._whole.append("".join([*self._pieces, ended[0]]))
            self._whole.extend(ended[1:])
            self._pieces = []
            self._length = 0
        self._pieces.append(rest)
        self._length += len(rest)
        if self._length > LINE_CHARACTERS_MAX:
            raise RecalldError("internal", "a line is too long", request_id=self.request_id)


@dataclass(frozen=True)
class ServerEvent:
    """One event of `text/event-stream`. The name of a heartbeat is empty; it only has an id."""

    name: str
    id: str
    data: str


def next_event(lines: Lines) -> Steps[ServerEvent | None]:
    """Puts lines together to an event, as HTML's `EventSource` does. One that was cut off is not told."""
    fields: dict[str, str] = {}
    while True:
        line = yield from lines.next()
        if line is None:
            return None
        line = line.removesuffix("\r")
        if line == "":
            if "id" in fields or "data" in fields:
                name, place = fields.get("event", ""), fields.get("id", "")
                return ServerEvent(name, place, fields.get("data", ""))
            fields = {}
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        both = name == "data" and "data" in fields
        fields[name] = f"{fields['data']}\n{value}" if both else value
