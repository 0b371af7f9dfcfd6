"""LangGraph's store beside its InMemoryStore: both take the same steps, and all answers are compared."""

from __future__ import annotations

import asyncio
import itertools
import os
import struct
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypedDict

import httpx
import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from recalld import AsyncRecalld, Recalld, RecalldError
from recalld.langgraph import RecalldStore

FIELDS = ["text"]
Step = Callable[[BaseStore], Any]
Path = tuple[str, ...]
numbers = itertools.count()


class Server(TypedDict):
    """Address and key of a real server."""

    base_url: str
    api_key: str


@pytest.fixture(scope="module")
def account() -> Server:
    """An account of its own, because a plan has 1,000 calls."""
    url = os.environ["RECALLD_URL"]
    answer = httpx.post(f"{url}/signup", json={}).raise_for_status().json()
    return {"base_url": url, "api_key": answer["api_key"]}


@pytest.fixture(scope="module")
def recalld(account: Server) -> Iterator[Recalld]:
    with Recalld(**account) as recalld:
        yield recalld


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


class Awaited(BaseStore):
    """A store whose calls all await."""

    supports_ttl = True

    def __init__(self, store: BaseStore, loop: asyncio.AbstractEventLoop) -> None:
        self.store = store
        self.loop = loop

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return self.loop.run_until_complete(self.store.abatch(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self.store.abatch(ops)


def ours(recalld: Recalld, fields: Sequence[str] = FIELDS, **options: Any) -> RecalldStore:
    return RecalldStore(recalld, root=f"store {next(numbers)}", fields=fields, **options)


def theirs(recalld: Recalld) -> InMemoryStore:
    """InMemoryStore with the server's own vectors, so that both must have the same scores."""

    def embed(texts: Sequence[str]) -> list[list[float]]:
        namespace = f"vectors {next(numbers)}"
        recalld.store_batch(namespace=namespace, memories=[{"text": text} for text in texts])
        vectors: dict[str, list[float]] = {}
        for memory in recalld.export(namespace=namespace, include_vectors=True):
            packed = b64decode((memory.vectors or ("",))[0])
            vectors[memory.text] = list(struct.unpack(f"<{len(packed) // 4}f", packed))
        return [vectors[text] for text in texts]

    return InMemoryStore(index={"dims": 384, "embed": embed, "fields": FIELDS})


def plain(answer: Any) -> Any:
    """Leaves out what differs between any two runs. recalld has no scores below 0."""
    if isinstance(answer, list):
        return [plain(each) for each in answer]
    if not isinstance(answer, Item):
        return answer
    assert answer.created_at <= answer.updated_at and answer.created_at.tzinfo is not None
    score = answer.score if isinstance(answer, SearchItem) else None
    rounded = None if score is None else max(0, round(score, 3))
    return type(answer).__name__, answer.namespace, answer.key, answer.value, rounded


def taken(store: BaseStore, steps: Sequence[Step]) -> list[Any]:
    """Takes steps in a store. Returns what each came to."""
    answers: list[Any] = []
    for step in steps:
        try:
            answers.append(plain(step(store)))
        except InvalidNamespaceError as error:
            answers.append(str(error))
    return answers


def put(namespace: Path, key: str, value: dict[str, Any], index: Any = None) -> Step:
    return lambda store: store.put(namespace, key, value, index)


def get(namespace: Path, key: str) -> Step:
    return lambda store: store.get(namespace, key)


def drop(namespace: Path, key: str) -> Step:
    return lambda store: store.delete(namespace, key)


def search(namespace: Path, **options: Any) -> Step:
    return lambda store: store.search(namespace, **options)


def listed(**options: Any) -> Step:
    return lambda store: store.list_namespaces(**options)


PEOPLE = [
    put(("people",), "ana", {"text": "Ana is allergic to peanuts.", "age": 31, "city": {"name": "Rome"}}),
    put(("people",), "ben", {"text": "Ben plays the piano in a trio.", "age": 45, "city": None}),
    put(("people",), "cleo", {"text": "Cleo grows tomatoes.", "age": 31}),
    put(("people",), "dan", {"text": "Dan repairs old bicycles.", "age": 9.5}),
]
WHERES: list[dict[str, Any]] = [
    {},
    {"age": 31},
    {"age": "31"},
    {"city": None},
    {"city": {"$eq": None}},
    {"city": {"$ne": None}},
    {"city": {"name": "Rome"}},
    {"age": 31, "text": "Cleo grows tomatoes."},
    {"age": {"$eq": 31}},
    {"age": {"$ne": 31}},
    {"age": {"$gt": 31}},
    {"age": {"$gte": 31}},
    {"age": {"$lt": 31}},
    {"age": {"$lte": 31, "$gt": 9.5}},
    {"no.such\\key": 1},
]
ODD = ["a/b", "50%", "%2F", " spaces ", "tab\there", "Größe 😀", "a:b", "A", "a", "*"]
TREE: list[Path] = [("a",), ("a", "b"), ("a", "b", "c"), ("a", "d", "c"), ("e", "b"), ("e", "b", "c")]
CASES: dict[str, list[Step]] = {
    "puts, reads, replaces and deletes": [
        get(("users", "42"), "k"),
        put(("users", "42"), "k", {"text": "one"}),
        get(("users", "42"), "k"),
        put(("users", "42"), "k", {"text": "two", "more": [1]}),
        get(("users", "42"), "k"),
        get(("users",), "k"),
        get((), "k"),
        get(("users", "42"), "K"),
        drop(("users", "42"), "k"),
        drop(("users", "42"), "k"),
        get(("users", "42"), "k"),
        search(("users",)),
    ],
    "gives values back as they were": [
        put(("v",), "deep", {"a": {"b": {"c": [1, "2", None, True, {"d": []}]}}, "x.y": 1, "$z": 2, "": 3}),
        put(("v",), "numbers", {"zero": 0, "half": -0.5, "large": 2**53, "small": 5e-324}),
        put(("v",), "texts", {"empty": "", "lines": "a\nb\0", "ключ": "Größe 😀"}),
        put(("v",), "nothing", {}),
        *[get(("v",), key) for key in ("deep", "numbers", "texts", "nothing")],
    ],
    "takes any labels and keys": [
        lambda store: store.batch([PutOp(("odd", label), label, {"text": label}) for label in ODD]),
        lambda store: store.batch([GetOp(("odd", label), label) for label in ODD]),
        *[search(("odd", label)) for label in ODD],
        get(("odd", "A"), "a"),
    ],
    "refuses namespaces that cannot be": [
        put((), "k", {}),
        put(("",), "k", {}),
        put(("a.b",), "k", {}),
        put(("langgraph",), "k", {}),
        get(("langgraph",), "k"),
        search(("langgraph",)),
    ],
    "filters and turns pages": [
        *PEOPLE,
        *[search(("people",), filter=where) for where in WHERES],
        search(("people",), limit=2),
        search(("people",), limit=2, offset=3),
        search(("people",), offset=4),
        search(("people",), filter={"age": 31}, limit=1, offset=1),
        search(("people",), limit=0),
        search(("nobody",)),
    ],
    "ranks by meaning, filters and turns pages": [
        *PEOPLE,
        search(("people",), query="Which foods are bad for Ana?", limit=2),
        search(("people",), query="Who makes music?", limit=1),
        search(("people",), query="Who makes music?", limit=2, offset=1),
        search(("people",), query="Who makes music?", offset=9),
        search(("people",), query="vegetables", filter={"age": {"$lt": 40}}),
        search(("people",), query="vegetables", filter={"age": -1}),
        search((), query="Who makes music?", limit=2),
        search(("nobody",), query="music"),
        search(("people",), query=""),
    ],
    "finds items by their indexed fields, and the others last": [
        put(("i",), "hidden", {"text": "Ana is allergic to peanuts."}, False),
        put(("i",), "title", {"text": "Lorem ipsum", "title": "The trio has a pianist"}, ["title"]),
        put(("i",), "nested", {"a": {"list": [{"b": "Bicycles need oil"}]}}, ["a.list[*].b"]),
        put(("i",), "other", {"note": "No text at all"}),
        search(("i",), query="Who plays the piano?"),
        search(("i",), query="repairing a bike", limit=1),
        get(("i",), "hidden"),
        put(("i",), "hidden", {"text": "Ana is allergic to peanuts."}),
        search(("i",), query="peanuts", limit=1),
    ],
    "takes in the namespaces below a prefix": [
        put(("u", "1"), "a", {"text": "Ana eats no nuts."}),
        put(("u", "1", "notes"), "b", {"text": "Ben has a piano."}),
        put(("u", "10"), "c", {"text": "Cleo has a garden."}),
        put(("u",), "d", {"text": "Dan has a bicycle."}),
        put(("v",), "a", {"text": "Eve has a boat."}),
        search(("u", "1")),
        search(("u", "1"), query="music", limit=1),
        search(("u",), query="plants", limit=1),
        search((), query="sailing", limit=1),
    ],
    "lists namespaces": [
        *[put(path, "k", {"text": " ".join(path)}) for path in TREE],
        listed(),
        listed(prefix=("a",)),
        listed(prefix=("a", "*", "c")),
        listed(prefix=("*", "b")),
        listed(suffix=("c",)),
        listed(suffix=("b", "*")),
        listed(prefix=("a",), suffix=("c",)),
        listed(max_depth=1),
        listed(max_depth=2, prefix=("a",)),
        listed(limit=2),
        listed(limit=2, offset=4),
        listed(prefix=("x",)),
    ],
    "reads before it writes, and the last write counts": [
        put(("b",), "old", {"text": "old"}),
        lambda store: store.batch(
            [
                PutOp(("b",), "new", {"text": "first"}),
                GetOp(("b",), "new"),
                GetOp(("b",), "old"),
                SearchOp(("b",), limit=5),
                PutOp(("b",), "new", {"text": "second"}),
                PutOp(("b",), "old", None),
                PutOp(("c",), "gone", {"text": "x"}),
                PutOp(("c",), "gone", None),
                ListNamespacesOp((MatchCondition("prefix", ("b",)),)),
                GetOp(("none",), "old"),
            ]
        ),
        get(("b",), "new"),
        get(("b",), "old"),
        get(("c",), "gone"),
        lambda store: store.batch([]),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_does_what_in_memory_store_does(recalld: Recalld, name: str) -> None:
    assert taken(ours(recalld), CASES[name]) == taken(theirs(recalld), CASES[name])


@pytest.mark.parametrize("name", ["puts, reads, replaces and deletes", "finds items by their indexed fields, and the others last"])
@pytest.mark.parametrize("in_thread", [False, True])
def test_does_so_when_awaited(
    recalld: Recalld, account: Server, loop: asyncio.AbstractEventLoop, name: str, in_thread: bool
) -> None:
    client = AsyncRecalld(**account)
    store = ours(recalld, async_recalld=None if in_thread else client)
    try:
        assert taken(Awaited(store, loop), CASES[name]) == taken(theirs(recalld), CASES[name])
    finally:
        loop.run_until_complete(client.close())


def test_keeps_an_item_as_a_memory_that_one_can_read(recalld: Recalld) -> None:
    store = RecalldStore(recalld, fields=FIELDS)
    store.put(("users", "a/b"), "food", {"text": "Ana eats no nuts.", "source": "chat"})
    (memory,) = recalld.memories(namespace="langgraph/users/a%2Fb")
    assert (memory.text, memory.external_id) == ("Ana eats no nuts.", "food")
    assert memory.metadata == {"text": "Ana eats no nuts.", "source": "chat"}
    recalld.store(namespace="langgraph/users/a%2Fb", text="Nobody's item.")
    recalld.store(namespace="langgraph/50%", text="Nobody's namespace.", external_id="x")
    recalld.store(namespace="langgraph/%FF", text="Nobody's namespace.", external_id="x")
    assert len(store.search(())) == len(store.search((), query="nobody")) == 1
    assert store.list_namespaces() == [("users", "a/b")]
    store.delete(("users", "a/b"), "food")
    recalld.delete_memories(namespace="langgraph/users/a%2Fb", filter={"$id": {"$exists": True}})
    # InMemoryStore lists what is empty.
    assert store.list_namespaces() == []


def test_names_namespaces_and_keys_as_the_other_languages_store_does(recalld: Recalld) -> None:
    # The TypeScript client's test has the same table, so that both can share a store.
    named = {
        "a/b": ("a%2Fb", "a/b"),
        "50%": ("50%25", "50%25"),
        " x\u00a0": ("%20x%C2%A0", " x\u00a0"),
        "tab\there\u0085": ("tab%09here%C2%85", "tab%09here%C2%85"),
        "é \ufeff": ("é %EF%BB%BF", "é \ufeff"),
    }
    store = RecalldStore(recalld, root="named", fields=FIELDS)
    store.batch([PutOp((key,), key, {"text": "x"}) for key in named])
    for name, external_id in named.values():
        assert [memory.external_id for memory in recalld.memories(namespace=f"named/{name}")] == [external_id]
    assert {path[0] for path in store.list_namespaces()} == set(named)


def test_embeds_the_whole_value_and_takes_recallds_conditions(recalld: Recalld) -> None:
    store = ours(recalld, ("$",))
    store.put(("a",), "1", {"note": "Ben plays the piano.", "tags": ["x", "y"], "a.b": 1})
    store.put(("a",), "2", {"note": "Ana eats no nuts.", "tags": []})
    assert [item.key for item in store.search(("a",), query="Who makes music?", limit=1)] == ["1"]

    def keys(where: dict[str, Any]) -> list[str]:
        return [item.key for item in store.search(("a",), filter=where)]

    assert keys({"tags": "x"}) == ["1"]
    assert keys({"note": {"$prefix": "Ana"}}) == ["2"]
    assert keys({"a.b": 1}) == ["1"]
    assert keys({"$or": [{"tags": "y"}, {"note": {"$contains": "nuts"}}]}) == ["1", "2"]
    with pytest.raises(RecalldError, match="filter"):
        keys({"tags": ["x", "y"]})


def test_writes_reads_and_ranks_more_than_one_call_holds(recalld: Recalld) -> None:
    store = ours(recalld)
    keys = [f"key {n}" for n in range(258)]
    store.batch([PutOp(("many",), key, {"text": f"Note {n}", "n": n}) for n, key in enumerate(keys)])
    got = store.batch([GetOp(("many",), key) for key in keys])
    assert [item.value["n"] for item in got if isinstance(item, Item)] == list(range(258))
    found = store.search(("many",), query="Note 7", limit=40, offset=5)
    scores = [item.score or 0 for item in found]
    assert len({item.key for item in found}) == 40 and scores == sorted(scores, reverse=True)
    assert len(store.search(("many",), limit=150, offset=107)) == 150
    with pytest.raises(RecalldError) as caught:
        store.search(("many",), query="x", limit=257)
    assert (caught.value.code, caught.value.field) == ("out_of_range", "limit")
    store.batch([PutOp(("many",), key, None) for key in keys])
    assert store.search(("many",)) == []


def test_forgets_after_the_time_to_live(recalld: Recalld) -> None:
    store = ours(recalld, default_ttl=60)
    store.put(("a",), "default", {"text": "x"})
    store.put(("a",), "own", {"text": "x"}, ttl=0.01)
    store.put(("a",), "ever", {"text": "x"}, ttl=None)
    name = f"store {next(numbers) - 1}/a"
    left = {memory.external_id: memory.expire_time for memory in recalld.memories(namespace=name)}
    assert left["ever"] is None and left["default"] is not None
    asyncio.run(asyncio.sleep(0.7))
    assert store.get(("a",), "own") is None
    assert [item.key for item in store.search(("a",), query="x")] == ["default", "ever"]


def test_refuses_what_it_could_not_give_back(recalld: Recalld) -> None:
    store = ours(recalld)
    refused: list[tuple[str, dict[str, Any], str]] = [
        ("", {"text": "x"}, "key is empty"),
        ("k", {"recalld_unindexed": 1}, "recalld_unindexed"),
        ("k", {"text": "x", "long": "x" * 17_000}, "key k: .*16,384"),
        ("k" * 257, {"text": "x"}, "256"),
    ]
    for key, value, said in refused:
        with pytest.raises(RecalldError, match=said):
            store.put(("a",), key, value)
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp((), "k", {})])
    with pytest.raises(InvalidNamespaceError):
        store.batch([GetOp(("a.b",), "k")])
    assert store.search(()) == []
