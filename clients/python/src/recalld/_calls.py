"""The calls that have one answer. Generated from proto/ by scripts/generate-client.ts."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping

from ._contract import (
    A,
    COUNT_MEMORIES,
    CountMemoriesRequest,
    CountMemoriesResponse,
    DELETE_MEMORIES,
    DELETE_MEMORY,
    DELETE_NAMESPACE,
    DELETE_NAMESPACES,
    DeleteMemoriesRequest,
    DeleteMemoriesResponse,
    DeleteMemoryRequest,
    DeleteMemoryResponse,
    DeleteNamespaceRequest,
    DeleteNamespaceResponse,
    DeleteNamespacesRequest,
    DeleteNamespacesResponse,
    GET_MEMORIES,
    GET_MEMORY,
    GET_NAMESPACE,
    GetMemoriesRequest,
    GetMemoriesResponse,
    GetMemoryRequest,
    GetMemoryResponse,
    GetNamespaceRequest,
    GetNamespaceResponse,
    Method,
    RECALL,
    RecallRequest,
    RecallResponse,
    STORE,
    STORE_BATCH,
    StoreBatchRequest,
    StoreBatchResponse,
    StoreRequest,
    StoreResponse,
    UPDATE_MEMORIES,
    UPDATE_MEMORY,
    UpdateMemoriesRequest,
    UpdateMemoriesResponse,
    UpdateMemoryRequest,
    UpdateMemoryResponse,
)
from ._options import CallOptions

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack


class Calls(ABC):
    """Calls of one server."""

    @abstractmethod
    def _call(
        self, method: Method[A], request: Mapping[str, object], options: CallOptions | None
    ) -> A: ...

    def store(
        self, *, options: CallOptions | None = None, **request: Unpack[StoreRequest]
    ) -> StoreResponse:
        """Stores one memory. Once answered, it survives a crash of the server and is found by the very next Recall, on any replica. The namespace comes into being with its first memory.

        With the header (gRPC: metadata) `Idempotency-Key`, up to 255 characters, calls with the same key and the same request store once within 24 hours: later ones get the first one's answer with `Idempotent-Replayed: true` and cost nothing. Another request under the same key is `already_exists`.
        """
        return self._call(STORE, request, options)

    def store_batch(
        self, *, options: CallOptions | None = None, **request: Unpack[StoreBatchRequest]
    ) -> StoreBatchResponse:
        """Stores up to 256 memories of one namespace, each as Store does, as if one after the other. Everything is checked before anything is stored, and a batch that the plan cannot pay is refused whole. After that each memory has a result of its own, in order: those that could not be stored cost nothing and may be sent again. A call that can store none of them has the error of the first.

        `Idempotency-Key` is as with Store, for the batch as a whole. What an attempt could not store, the next call with the key stores.
        """
        return self._call(STORE_BATCH, request, options)

    def recall(
        self, *, options: CallOptions | None = None, **request: Unpack[RecallRequest]
    ) -> RecallResponse:
        """Finds the memories of one namespace whose meaning is nearest to the query, or to any of several, or to a stored memory, best first; by their words as well, if `mode` says so. A namespace nobody stored to has no results; recalling does not create it."""
        return self._call(RECALL, request, options)

    def get(
        self, *, options: CallOptions | None = None, **request: Unpack[GetMemoryRequest]
    ) -> GetMemoryResponse:
        """One memory by its id. Costs nothing."""
        return self._call(GET_MEMORY, request, options)

    def get_memories(
        self, *, options: CallOptions | None = None, **request: Unpack[GetMemoriesRequest]
    ) -> GetMemoriesResponse:
        """Up to 256 memories by their ids. Costs nothing."""
        return self._call(GET_MEMORIES, request, options)

    def update(
        self, *, options: CallOptions | None = None, **request: Unpack[UpdateMemoryRequest]
    ) -> UpdateMemoryResponse:
        """Updates one memory: its text, its metadata or some keys of it, when it expires, or when it happened. Once answered, the new text is found by the very next Recall, on any replica, and the old one never again: it is erased. A text costs one call, other updates cost nothing. `Idempotency-Key` as for Store; a repeated answer has the memory as it is by then."""
        return self._call(UPDATE_MEMORY, request, options)

    def delete(
        self, *, options: CallOptions | None = None, **request: Unpack[DeleteMemoryRequest]
    ) -> DeleteMemoryResponse:
        """Forgets one memory. Once answered, its text, metadata and vector are out of the database and of the index, and no later Recall, on any replica, returns it. Costs nothing."""
        return self._call(DELETE_MEMORY, request, options)

    def delete_memories(
        self, *, options: CallOptions | None = None, **request: Unpack[DeleteMemoriesRequest]
    ) -> DeleteMemoriesResponse:
        """Forgets up to 256 memories by their ids or by a filter, each like DeleteMemory. Ids that no memory has are no error. Costs nothing."""
        return self._call(DELETE_MEMORIES, request, options)

    def update_memories(
        self, *, options: CallOptions | None = None, **request: Unpack[UpdateMemoriesRequest]
    ) -> UpdateMemoriesResponse:
        """Changes the metadata of up to 256 memories, by their ids or by a filter: merges some into that of each, and removes paths. Texts stay as they are. A memory whose metadata is so already is not written, so that the same request may be sent twice. Costs nothing; what it writes takes of the key's rate."""
        return self._call(UPDATE_MEMORIES, request, options)

    def delete_namespace(
        self, *, options: CallOptions | None = None, **request: Unpack[DeleteNamespaceRequest]
    ) -> DeleteNamespaceResponse:
        """Drops a namespace and erases all of it; the name is free again. Costs nothing."""
        return self._call(DELETE_NAMESPACE, request, options)

    def delete_namespaces(
        self, *, options: CallOptions | None = None, **request: Unpack[DeleteNamespacesRequest]
    ) -> DeleteNamespacesResponse:
        """Drops the namespaces whose names begin with a prefix, such as all of one user, each like DeleteNamespace, up to 100 a call. A key that is for one namespace drops that one alone. Costs nothing."""
        return self._call(DELETE_NAMESPACES, request, options)

    def get_namespace(
        self, *, options: CallOptions | None = None, **request: Unpack[GetNamespaceRequest]
    ) -> GetNamespaceResponse:
        """What one namespace holds, and when it was stored. Costs nothing."""
        return self._call(GET_NAMESPACE, request, options)

    def count(
        self, *, options: CallOptions | None = None, **request: Unpack[CountMemoriesRequest]
    ) -> CountMemoriesResponse:
        """How many memories a namespace holds, or how many of them match a filter. Costs nothing."""
        return self._call(COUNT_MEMORIES, request, options)


class AsyncCalls(ABC):
    """Calls of one server, to await."""

    @abstractmethod
    async def _call(
        self, method: Method[A], request: Mapping[str, object], options: CallOptions | None
    ) -> A: ...

    async def store(
        self, *, options: CallOptions | None = None, **request: Unpack[StoreRequest]
    ) -> StoreResponse:
        """Stores one memory. Once answered, it survives a crash of the server and is found by the very next Recall, on any replica. The namespace comes into being with its first memory.

        With the header (gRPC: metadata) `Idempotency-Key`, up to 255 characters, calls with the same key and the same request store once within 24 hours: later ones get the first one's answer with `Idempotent-Replayed: true` and cost nothing. Another request under the same key is `already_exists`.
        """
        return await self._call(STORE, request, options)

    async def store_batch(
        self, *, options: CallOptions | None = None, **request: Unpack[StoreBatchRequest]
    ) -> StoreBatchResponse:
        """Stores up to 256 memories of one namespace, each as Store does, as if one after the other. Everything is checked before anything is stored, and a batch that the plan cannot pay is refused whole. After that each memory has a result of its own, in order: those that could not be stored cost nothing and may be sent again. A call that can store none of them has the error of the first.

        `Idempotency-Key` is as with Store, for the batch as a whole. What an attempt could not store, the next call with the key stores.
        """
        return await self._call(STORE_BATCH, request, options)

    async def recall(
        self, *, options: CallOptions | None = None, **request: Unpack[RecallRequest]
    ) -> RecallResponse:
        """Finds the memories of one namespace whose meaning is nearest to the query, or to any of several, or to a stored memory, best first; by their words as well, if `mode` says so. A namespace nobody stored to has no results; recalling does not create it."""
        return await self._call(RECALL, request, options)

    async def get(
        self, *, options: CallOptions | None = None, **request: Unpack[GetMemoryRequest]
    ) -> GetMemoryResponse:
        """One memory by its id. Costs nothing."""
        return await self._call(GET_MEMORY, request, options)

    async def get_memories(
        self, *, options: CallOptions | None = None, **request: Unpack[GetMemoriesRequest]
    ) -> GetMemoriesResponse:
        """Up to 256 memories by their ids. Costs nothing."""
        return await self._call(GET_MEMORIES, request, options)

    async def update(
        self, *, options: CallOptions | None = None, **request: Unpack[UpdateMemoryRequest]
    ) -> UpdateMemoryResponse:
        """Updates one memory: its text, its metadata or some keys of it, when it expires, or when it happened. Once answered, the new text is found by the very next Recall, on any replica, and the old one never again: it is erased. A text costs one call, other updates cost nothing. `Idempotency-Key` as for Store; a repeated answer has the memory as it is by then."""
        return await self._call(UPDATE_MEMORY, request, options)

    async def delete(
        self, *, options: CallOptions | None = None, **request: Unpack[DeleteMemoryRequest]
    ) -> DeleteMemoryResponse:
        """Forgets one memory. Once answered, its text, metadata and vector are out of the database and of the index, and no later Recall, on any replica, returns it. Costs nothing."""
        return await self._call(DELETE_MEMORY, request, options)

    async def delete_memories(
        self, *, options: CallOptions | None = None, **request: Unpack[DeleteMemoriesRequest]
    ) -> DeleteMemoriesResponse:
        """Forgets up to 256 memories by their ids or by a filter, each like DeleteMemory. Ids that no memory has are no error. Costs nothing."""
        return await self._call(DELETE_MEMORIES, request, options)

    async def update_memories(
        self, *, options: CallOptions | None = None, **request: Unpack[UpdateMemoriesRequest]
    ) -> UpdateMemoriesResponse:
        """Changes the metadata of up to 256 memories, by their ids or by a filter: merges some into that of each, and removes paths. Texts stay as they are. A memory whose metadata is so already is not written, so that the same request may be sent twice. Costs nothing; what it writes takes of the key's rate."""
        return await self._call(UPDATE_MEMORIES, request, options)

    async def delete_namespace(
        self, *, options: CallOptions | None = None, **request: Unpack[DeleteNamespaceRequest]
    ) -> DeleteNamespaceResponse:
        """Drops a namespace and erases all of it; the name is free again. Costs nothing."""
        return await self._call(DELETE_NAMESPACE, request, options)

    async def delete_namespaces(
        self, *, options: CallOptions | None = None, **request: Unpack[DeleteNamespacesRequest]
    ) -> DeleteNamespacesResponse:
        """Drops the namespaces whose names begin with a prefix, such as all of one user, each like DeleteNamespace, up to 100 a call. A key that is for one namespace drops that one alone. Costs nothing."""
        return await self._call(DELETE_NAMESPACES, request, options)

    async def get_namespace(
        self, *, options: CallOptions | None = None, **request: Unpack[GetNamespaceRequest]
    ) -> GetNamespaceResponse:
        """What one namespace holds, and when it was stored. Costs nothing."""
        return await self._call(GET_NAMESPACE, request, options)

    async def count(
        self, *, options: CallOptions | None = None, **request: Unpack[CountMemoriesRequest]
    ) -> CountMemoriesResponse:
        """How many memories a namespace holds, or how many of them match a filter. Costs nothing."""
        return await self._call(COUNT_MEMORIES, request, options)
