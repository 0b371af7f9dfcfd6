"""Both clients against a real server."""

from __future__ import annotations

import json
import os
from contextlib import aclosing
from datetime import datetime, timedelta, timezone
from typing import TypedDict

import pytest

from recalld import AsyncRecalld, Recalld, RecalldError, WatchEvent

class Server(TypedDict):
    """Address and key of a real server."""

    base_url: str
    api_key: str


@pytest.fixture
def server() -> Server:
    return {"base_url": os.environ["RECALLD_URL"], "api_key": os.environ["RECALLD_API_KEY"]}


def test_stores_recalls_updates_and_forgets(server: Server) -> None:
    namespace = "py sync/a"
    with Recalld(**server) as recalld:
        soon = datetime.now(timezone.utc) + timedelta(hours=1)
        stored = recalld.store(
            namespace=namespace,
            text="Ana is allergic to peanuts.",
            metadata={"said_in": {"chat_id": 7}},
            expire_time=soon,
            external_id="food",
        )
        assert stored.outcome == "CREATED" and len(stored.request_id) == 32 and not stored.replayed
        answer = recalld.recall(namespace=namespace, query="Which foods are bad for her?", explain=True)
        (result,) = answer.results
        assert result.text == "Ana is allergic to peanuts." and result.score > 0.3
        assert result.metadata == {"said_in": {"chat_id": 7}}
        assert result.explanation is not None and result.explanation.rank > 0
        changed = recalld.update(
            namespace=namespace, id=stored.id, update_mask=["metadata.said_in", "expire_time"], etag=stored.etag
        )
        assert changed.memory.metadata == {} and changed.memory.expire_time is None
        with pytest.raises(RecalldError) as caught:
            recalld.update(namespace=namespace, id=stored.id, text="Ana.", etag=stored.etag)
        assert (caught.value.code, caught.value.reason) == ("aborted", "ETAG_MISMATCH")
        assert caught.value.metadata == {"etag": changed.memory.etag}
        with pytest.raises(RecalldError) as caught:
            recalld.recall(namespace=namespace, query="?", top_k=21)
        assert caught.value.field == "top_k"
        assert recalld.get(namespace=namespace, id=stored.id).memory == changed.memory
        assert recalld.get_memories(namespace=namespace, ids=[stored.id]).memories == (changed.memory,)
        assert recalld.count(namespace=namespace).memories == 1
        assert recalld.get_namespace(namespace=namespace).namespace.bytes > 0
        assert recalld.delete(namespace=namespace, id=stored.id).id == stored.id
        assert recalld.delete_memories(namespace=namespace, ids=[stored.id]).deleted == 0


def test_lists_exports_and_drops(server: Server) -> None:
    namespace = "py pages"
    with Recalld(**server) as recalld:
        batch = recalld.store_batch(namespace=namespace, memories=[{"text": f"Note {n}"} for n in range(5)])
        assert all(each.stored for each in batch.results)
        listed = recalld.memories(namespace=namespace, page_size=2, order="OLDEST_FIRST")
        assert [memory.text for memory in listed] == [f"Note {n}" for n in range(5)]
        assert [len(page.memories) for page in listed.pages()][:3] == [2, 2, 1]
        assert [each.namespace for each in recalld.namespaces(prefix="py p")] == [namespace]
        export = recalld.export(namespace=namespace, include_vectors=True)
        memories = list(export)
        assert [memory.text for memory in memories] == [f"Note {n}" for n in range(5)]
        assert memories[0].vectors is not None and len(memories[0].vectors) == 1
        lines = [json.loads(line) for line in export.lines()]
        assert lines[0]["format"] == "recalld-export" and lines[-1]["count"] == 5
        assert recalld.delete_namespace(namespace=namespace, force=True).deleted == 5


def test_deletes_namespaces_by_a_prefix(server: Server) -> None:
    namespaces = ("py user/a", "py user/b")
    with Recalld(**server) as recalld:
        for namespace in namespaces:
            recalld.store(namespace=namespace, text="Ana plays the piano.")
        dry = recalld.delete_namespaces(prefix="py user/", dry_run=True)
        assert (dry.deleted, dry.more, dry.namespaces, dry.memories, dry.matched) == (0, False, namespaces, 2, 2)
        done = recalld.delete_namespaces(prefix="py user/")
        assert (done.deleted, done.more, done.namespaces, done.memories) == (2, False, namespaces, 2)
        assert done.matched is None
        assert recalld.delete_namespaces(prefix="py user/").deleted == 0
        with pytest.raises(RecalldError) as caught:
            recalld.delete_namespaces(prefix="")
        assert (caught.value.code, caught.value.field) == ("invalid_argument", "prefix")


def test_watches(server: Server) -> None:
    seen: list[WatchEvent] = []
    with Recalld(**server) as recalld:
        for event in recalld.watch(namespace="py watch"):
            seen.append(event)
            if event.type == "heartbeat" and len(seen) == 1:
                recalld.store(namespace="py watch", text="Größe 😀")
            if event.type == "stored":
                assert event.memory.text == "Größe 😀"
                recalld.delete(namespace="py watch", id=event.memory.id)
            if event.type == "deleted":
                break
        again = recalld.watch(namespace="py watch", position=seen[0].position)
        # What was stored and forgotten since is only told as forgotten.
        assert next(event.type for event in again if event.type != "heartbeat") == "deleted"
        again.close()


@pytest.mark.anyio
async def test_async(server: Server) -> None:
    namespace = "py async"
    async with AsyncRecalld(**server) as recalld:
        types: list[str] = []
        async with aclosing(recalld.watch(namespace=namespace)) as events:
            async for event in events:
                types.append(event.type)
                if event.type == "heartbeat" and len(types) == 1:
                    await recalld.store(namespace=namespace, text="Ana plays the piano.")
                if event.type == "stored":
                    break
        answer = await recalld.recall(namespace=namespace, query="What music does she make?")
        assert [result.text for result in answer.results] == ["Ana plays the piano."]
        assert [memory.text async for memory in recalld.memories(namespace=namespace)] == ["Ana plays the piano."]
        assert [page.namespace async for page in recalld.memories(namespace=namespace).pages()] == [namespace]
        assert [memory.text async for memory in recalld.export(namespace=namespace)] == ["Ana plays the piano."]
        assert len([line async for line in recalld.export(namespace=namespace).lines()]) == 3
        dropped = await recalld.delete_namespace(namespace=namespace, force=True, options={"request_id": "own"})
        assert (dropped.deleted, dropped.request_id) == (1, "own")
