import asyncio
from abc import ABC, abstractmethod


class MemoryProvider(ABC):
    """Stands in for that of agent-memory-benchmark at de83fa7."""

    name: str
    concurrency: int = 4

    @abstractmethod
    def ingest(self, documents): ...

    @abstractmethod
    def retrieve(self, query, k=10, user_id=None, query_timestamp=None): ...

    async def async_retrieve(self, query, k=10, user_id=None, query_timestamp=None):
        return await asyncio.to_thread(self.retrieve, query, k, user_id, query_timestamp)
