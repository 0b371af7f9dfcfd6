"""Runs eval/adapters/amb.py as the benchmark's runner does: initialize, ingest, retrieve, cleanup."""

import asyncio
import json

from amb import RecalldMemoryProvider
from memory_bench.models import Document

memory = RecalldMemoryProvider()
memory.initialize()
turns = [{"role": "user", "content": "I cannot eat peanuts."}, {"role": "assistant", "content": "Noted."}]
memory.ingest(
    [
        Document("chat-1", "", "ana", turns, "2023-05-20T02:21:00"),
        Document("chat-2", "", "ben", [{"role": "user", "content": "Peanuts are my favourite."}], "no date"),
        Document("plain", "Lisbon is sunny." + " x" * 20_000 + " " * 16_000),
    ]
)


async def ask(query, user):
    found, raw = await memory.async_retrieve(query, user_id=user, query_timestamp="2023-06-01T00:00:00")
    assert len(found) == len(raw["results"]) <= 10
    return [[one.id, one.content[:60], one.timestamp] for one in found]


print(json.dumps([asyncio.run(ask("Which foods are bad for me?", user)) for user in ("ana", "ben", None)]))
memory.cleanup()
