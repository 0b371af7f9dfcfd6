"""A namespace as of one position."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._contract import Json, Metadata
from ._effects import Emit, Steps
from ._errors import RecalldError, invalid
from ._options import Settings
from ._refusal import error_of
from ._stream import Wanted, open_stream
from ._wire import message_of, parsed, to_wire

# Longest silence: the server reads a slice of the log between two memories.
SILENCE = 60.0


@dataclass(frozen=True, kw_only=True)
class ExportedMemory:
    """A memory as an export has it."""

    id: str
    text: str
    metadata: Metadata = field(default_factory=dict[str, Json])
    created_at: str = ""
    tokens: int = 0
    vectors: tuple[str, ...] | None = None
    """Base64 of each window's float32 numbers, in little-endian order; only if asked for."""

    windows: tuple[tuple[int, int], ...] | None = None
    """Begin and end of each window; only of texts that have several."""


def export_lines(request: Mapping[str, Any], settings: Settings) -> Steps[None]:
    """Emits the lines as the server writes them, without their ends."""
    return _export(request, settings, memories=False)


def export_memories(request: Mapping[str, Any], settings: Settings) -> Steps[None]:
    """Emits the memories of an export."""
    return _export(request, settings, memories=True)


def _export(request: Mapping[str, Any], settings: Settings, *, memories: bool) -> Steps[None]:
    plain = json.loads(to_wire(request))
    with_vectors = plain.get("include_vectors")
    if with_vectors is not None and not isinstance(with_vectors, bool):
        raise invalid("include_vectors", f"include_vectors is {with_vectors!r}; it must be True or False")
    query = {"include_vectors": "true"} if with_vectors else {}
    if plain.get("filter") is not None:
        query["filter"] = json.dumps(plain["filter"], separators=(",", ":"))
    lines = yield from open_stream(Wanted("export", request.get("namespace", ""), query, SILENCE), settings)
    number = -1
    while (line := (yield from lines.next())) is not None:
        read = parsed(line, request_id=lines.request_id)
        if "error" in read:
            raise error_of(read["error"], request_id=lines.request_id)
        if not memories:
            yield Emit(line)
        elif "id" in read:
            yield Emit(message_of(ExportedMemory, read, request_id=lines.request_id))
        count = read.get("count")
        if count is not None:
            if count == number:
                return
            message = f"{number} of {count} memories came"
            raise RecalldError("data_loss", message, request_id=lines.request_id)
        number += 1
    message = "the export ended before its last line"
    raise RecalldError("unavailable", message, request_id=lines.request_id)
