"""Values that a program hands in, and types that it keeps: errors in pickles, JSON, models of pydantic."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import anyio
import httpx
import pytest
from pydantic import BaseModel, TypeAdapter, create_model

import recalld
from recalld import AsyncRecalld, Memory, Recalld, RecalldError

URL = "http://memory.example"


class OwnError(RecalldError):
    """A program's own, made from other arguments."""

    def __init__(self, user: int) -> None:
        super().__init__("aborted", "x", field="text")
        self.user = user


def an_error() -> RecalldError:
    error = RecalldError(
        "not_found", "no such memory", reason="R", field="id", metadata={"id": "m"}, retry_after=1.5, request_id="r", status=404
    )
    error.attempts = 3
    return error


def fail(error: RecalldError) -> None:
    raise error from OSError("the cause")


def pickled(protocol: int) -> Callable[[Any], Any]:
    return lambda each: pickle.loads(pickle.dumps(each, protocol))


WAYS: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy]
WAYS += [pickled(protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [an_error, lambda: OwnError(7)])
def test_an_error_is_copied_whole(way: Callable[[Any], Any], make: Callable[[], RecalldError]) -> None:
    error = make()
    with pytest.raises(RecalldError):
        fail(error)
    other = way(error)
    assert other is not error and type(other) is type(error)
    assert vars(other) == vars(error) and other.args == error.args and str(other) == str(error)


def test_an_error_leaves_a_pool_of_processes() -> None:
    with ProcessPoolExecutor(1) as pool, pytest.raises(RecalldError) as caught:
        pool.submit(fail, an_error()).result()
    assert vars(caught.value) == vars(an_error())


LOOP: dict[str, Any] = {}
LOOP["a"] = LOOP

WRONG: list[tuple[str | None, dict[str, Any]]] = [
    ("text", {"text": b"x"}),
    ("metadata.b", {"metadata": {"b": b"x"}}),
    ("metadata.b", {"metadata": {"b": bytearray(b"x")}}),
    ("metadata.b", {"metadata": {"b": memoryview(b"x")}}),
    ("metadata.a[1].b", {"metadata": {"a": [1, {"b": b"x"}]}}),
    ("metadata.a[0]", {"metadata": {"a": (float("nan"),)}}),
    ("metadata.a", {"metadata": {"a": float("-inf")}}),
    ("metadata.a", {"metadata": {"a": {1}}}),
    ("metadata.a", {"metadata": {"a": Decimal(1)}}),
    ("metadata.a", {"metadata": {"a": datetime.now(timezone.utc)}}),
    ("metadata", {"metadata": {1: "a"}}),
    ("metadata.a", {"metadata": {"a": {None: "a"}}}),
    ("metadata", {"metadata": {b"a": "a"}}),
    ("metadata.n", {"metadata": {"n": 2**53 + 1}}),
    ("metadata.n[0]", {"metadata": {"n": [-(10**400)]}}),
    ("expire_time", {"expire_time": datetime(2030, 1, 1)}),
    ("supersedes[0]", {"supersedes": [b"x"]}),
    (None, {"metadata": LOOP}),
]


def unreachable() -> httpx.MockTransport:
    def fail_test(request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"{request.url} was asked")

    return httpx.MockTransport(fail_test)


@pytest.mark.parametrize(("field", "wrong"), WRONG)
def test_what_json_cannot_hold_is_refused_before_it_is_sent(field: str | None, wrong: dict[str, Any]) -> None:
    client = Recalld(api_key="k", base_url=URL, http_client=httpx.Client(transport=unreachable()))
    request: Any = {"namespace": "a", "text": "b", **wrong}
    with pytest.raises(RecalldError) as caught:
        client.store(**request)
    assert (caught.value.code, caught.value.field) == ("invalid_argument", field)

    async def awaiting() -> None:
        http = httpx.AsyncClient(transport=unreachable())
        await AsyncRecalld(api_key="k", base_url=URL, http_client=http).store(**request)

    with pytest.raises(RecalldError) as caught:
        anyio.run(awaiting)
    assert (caught.value.code, caught.value.field) == ("invalid_argument", field)


def test_a_number_is_refused_for_what_is_wrong_with_it() -> None:
    client = Recalld(api_key="k", base_url=URL, http_client=httpx.Client(transport=unreachable()))
    said = {float("nan"): "is nan, which JSON", float("-inf"): "is -inf, which JSON", 2**53 + 1: "a double cannot hold"}
    for number, words in said.items():
        with pytest.raises(RecalldError, match=words):
            client.store(namespace="a", text="b", metadata={"n": number})


def test_other_calls_refuse_it_too() -> None:
    client: Any = Recalld(api_key="k", base_url=URL, http_client=httpx.Client(transport=unreachable()))
    calls: dict[str, Callable[[], object]] = {
        "memories[1].metadata.b": lambda: client.store_batch(
            namespace="a", memories=[{"text": "x"}, {"text": "x", "metadata": {"b": b"x"}}]
        ),
        "filter.a": lambda: list(client.memories(namespace="a", filter={"a": b"x"})),
        "filter.n": lambda: list(client.export(namespace="a", filter={"n": 2**60 + 1})),
        "include_vectors": lambda: list(client.export(namespace="a", include_vectors="false")),
        "position": lambda: next(client.watch(namespace="a", position=b"x")),
        "fields": lambda: client.recall(namespace="a", query="b", fields=[1]),
        "fields[0]": lambda: client.recall(namespace="a", query="b", fields=[b"x"]),
        "update_mask": lambda: client.update(namespace="a", id="b", update_mask={"text"}),
        "query": lambda: client.recall(namespace="a", query=b"x"),
    }
    for field, call in calls.items():
        with pytest.raises(RecalldError) as caught:
            call()
        assert (caught.value.code, caught.value.field) == ("invalid_argument", field)


CALLED = {"AsyncExport", "AsyncPages", "AsyncRecalld", "Export", "Pages", "Recalld", "RecalldError"}


@pytest.mark.parametrize("name", sorted(set(recalld.__all__) - CALLED))
def test_a_model_of_pydantic_may_have_every_type_as_a_field(name: str) -> None:
    model = create_model("Model", field=(getattr(recalld, name), ...))
    assert model.model_json_schema(mode="validation") and model.model_json_schema(mode="serialization")


class Answer(BaseModel):
    memories: list[Memory]


def test_a_model_of_pydantic_gives_back_what_it_took() -> None:
    memory = Memory(id="mem_1", text="Größe", metadata={"a": [1, 1.5, True, None, {"b": "c"}]})
    text = Answer(memories=[memory]).model_dump_json()
    assert Answer.model_validate_json(text) == Answer(memories=[memory])
    asked = TypeAdapter(recalld.StoreRequest).validate_python({"namespace": "a", "text": "b", "metadata": {"a": [1]}})
    assert asked == {"namespace": "a", "text": "b", "metadata": {"a": [1]}}
