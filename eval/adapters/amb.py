"""AMB, the Agent Memory Benchmark, asked of a running recalld. Copy this to src/memory_bench/memory/recalld.py.

Follows MemoryProvider in src/memory_bench/memory/base.py of vectorize-io/agent-memory-benchmark at de83fa7.
eval/adapters/README.md says how to start the server.
"""

from __future__ import annotations

import os
import uuid
from collections import defaultdict
from datetime import datetime, timezone
from typing import Any

from memory_bench.memory.base import MemoryProvider
from memory_bench.models import Document
from recalld import Recalld

BATCH = 64
"""Memories of a call: as many of the longest texts as its body may have."""
TEXT_CHARS_MAX = 16_000
"""Longest text: 65,536 bytes whatever its letters."""
DEFAULT_USER = "everyone"


class RecalldMemoryProvider(MemoryProvider):
    name = "recalld"
    description = "Stores each message as it is, and recalls by meaning and words. No language model."
    kind = "local"
    link = "https://github.com/recalld/recalld"

    def __init__(self) -> None:
        self._run = uuid.uuid4().hex[:12]
        self._users: set[str] = set()

    def initialize(self) -> None:
        url = os.environ.get("RECALLD_URL", "http://127.0.0.1:8080")
        self._recalld = Recalld(api_key=os.environ["RECALLD_API_KEY"], base_url=url)

    def cleanup(self) -> None:
        for user in self._users:
            self._recalld.delete_namespace(namespace=self._namespace(user), force=True)
        self._recalld.close()

    def ingest(self, documents: list[Document]) -> None:
        memories: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for document in documents:
            memories[document.user_id or DEFAULT_USER] += _memories_of(document)
        self._users |= memories.keys()
        for user, own in memories.items():
            for at in range(0, len(own), BATCH):
                batch = own[at : at + BATCH]
                answer = self._recalld.store_batch(namespace=self._namespace(user), memories=batch)
                errors = [result.error for result in answer.results if result.error is not None]
                if errors:
                    raise RuntimeError(f"{len(errors)} texts were not stored, the first one: {errors[0]}")

    def retrieve(
        self, query: str, k: int = 10, user_id: str | None = None, query_timestamp: str | None = None
    ) -> tuple[list[Document], dict[str, Any] | None]:
        answer = self._recalld.recall(
            namespace=self._namespace(user_id or DEFAULT_USER), query=query, mode="HYBRID", top_k=k
        )
        found = [
            Document(
                id=result.metadata["document"],
                content=f"({result.event_time[:10]}) {result.text}" if result.event_time else result.text,
                user_id=user_id,
                timestamp=result.event_time,
            )
            for result in answer.results
        ]
        raw = [{"id": result.id, "score": result.score, "text": result.text} for result in answer.results]
        return found, {"results": raw}

    def _namespace(self, user: str) -> str:
        return f"amb-{self._run}-{user}"


def _memories_of(document: Document) -> list[dict[str, Any]]:
    said = [f"{turn.get('role', 'user')}: {turn['content']}" for turn in document.messages or []]
    moment = _moment(document.timestamp)
    when = {"event_time": moment} if moment else {}
    parts = [
        text[at : at + TEXT_CHARS_MAX]
        for text in said or [document.content]
        for at in range(0, len(text), TEXT_CHARS_MAX)
    ]
    return [{"text": part, "metadata": {"document": document.id}, **when} for part in parts if part.strip()]


def _moment(timestamp: str | None) -> datetime | None:
    """A moment; one without a time zone is taken as UTC. Some sets have no date, or one that is not ISO's."""
    try:
        moment = datetime.fromisoformat((timestamp or "").replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
