"""What only this client has, without a server."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import anyio
import httpx
import pytest

import recalld
from recalld import AsyncRecalld, Recalld, RecalldError

GOOD: dict[str, Any] = {"api_key": "rcl_x", "base_url": "http://memory.example/sub/"}
# Its moment in UTC is in the year 10000.
BEYOND = datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))
STORED = {"id": "mem_1", "namespace": "ana", "tokens": 6, "created_at": "t"}


def scripted(*answers: httpx.Response) -> tuple[httpx.Client, list[httpx.Request]]:
    requests: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return answers[min(len(requests), len(answers)) - 1]

    return httpx.Client(transport=httpx.MockTransport(handle)), requests


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("api_key", {"api_key": ""}),
        ("api_key", {"api_key": "rcl_x\n"}),
        ("base_url", {"base_url": "memory.example"}),
        ("base_url", {"base_url": "file:///etc"}),
        ("base_url", {"base_url": "http://a:b@memory.example"}),
        ("base_url", {"base_url": "http://memory.example?x"}),
        ("base_url", {"base_url": "http://memory.example:port"}),
        ("timeout", {"timeout": 0}),
        ("timeout", {"timeout": float("inf")}),
        ("timeout", {"timeout": float("nan")}),
        ("retries", {"retries": -1}),
        ("retries", {"retries": 1.5}),
        ("retries", {"retries": True}),
        ("headers", {"headers": {"a": "b\r\nc: d"}}),
        ("headers", {"headers": {"a b": "c"}}),
        ("headers", {"headers": {"a": " "}}),
        ("headers", {"headers": [("a", "b")]}),
    ],
)
@pytest.mark.parametrize("client", [Recalld, AsyncRecalld])
def test_refuses_options_that_cannot_be_meant(client: Any, field: str, options: Mapping[str, Any]) -> None:
    with pytest.raises(RecalldError) as caught:
        client(**{**GOOD, **options})
    assert (caught.value.code, caught.value.field) == ("invalid_argument", field)


def test_leaves_out_white_space_around_headers_which_does_not_count() -> None:
    http, requests = scripted(httpx.Response(200, json=STORED))
    with Recalld(**GOOD, http_client=http, headers={"A": " 1 "}) as client:
        client.store(namespace="ana", text="tea", options={"idempotency_key": " k ", "request_id": "r "})
    names = ("a", "idempotency-key", "x-request-id")
    assert [requests[0].headers[name] for name in names] == ["1", "k", "r"]


@pytest.mark.parametrize(
    ("field", "ask"),
    [
        ("position", lambda client: next(client.watch(namespace="ana", position="\ud800"))),
        (None, lambda client: next(client.watch(namespace="a" * 70_000))),
        ("timeout_s", lambda client: client.get(namespace="ana", id="x", options={"timeout_s": 1})),
        ("expire_time", lambda client: client.store(namespace="ana", text="tea", expire_time=BEYOND)),
    ],
)
def test_refuses_once_what_no_request_can_hold(field: str | None, ask: Callable[[Recalld], object]) -> None:
    with Recalld(**GOOD) as client, pytest.raises(RecalldError) as caught:
        ask(client)
    assert (caught.value.code, caught.value.field, caught.value.attempts) == ("invalid_argument", field, 1)


def test_takes_the_http_client_that_it_is_given_and_leaves_it_open() -> None:
    http, requests = scripted(httpx.Response(200, json=STORED))
    with Recalld(**GOOD, http_client=http, headers={"A": "1", "B": "1"}) as client:
        client.store(namespace="ana", text="Größe 😀", options={"headers": {"b": "2"}})
    assert not http.is_closed
    assert str(requests[0].url) == "http://memory.example/sub/recalld.v1.MemoryService/Store"
    assert (requests[0].headers["a"], requests[0].headers["b"]) == ("1", "2")
    assert "Größe 😀".encode() in requests[0].content


@pytest.mark.parametrize("http", [None, httpx.Client()])
def test_says_that_it_is_closed(http: httpx.Client | None) -> None:
    with Recalld(**GOOD, http_client=http, retries=0) as client:
        if http is not None:
            http.close()
        else:
            with pytest.raises(RecalldError):
                client.count(namespace="ana")
    with pytest.raises(RecalldError) as caught:
        client.count(namespace="ana")
    assert (caught.value.code, caught.value.message) == ("failed_precondition", "the client is closed: make another")


def test_waits_until_a_date() -> None:
    later = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 3))
    busy = httpx.Response(503, json={"code": "unavailable"}, headers={"retry-after": later})
    http, _ = scripted(busy, httpx.Response(200, json=STORED))
    pauses: list[float] = []
    Recalld(**GOOD, http_client=http, sleep=pauses.append).store(namespace="ana", text="Ana.")
    assert 1 < pauses[0] < 4


def test_writes_values_of_python_as_json() -> None:
    http, requests = scripted(httpx.Response(200, json=STORED))
    client = Recalld(**GOOD, http_client=http)
    client.store(namespace="a", text="b", ttl=timedelta(minutes=1), metadata=MappingProxyType({"a": (1, None)}))
    assert requests[0].content == b'{"namespace":"a","text":"b","ttl":"60.000000s","metadata":{"a":[1,null]}}'
    client.store(namespace="a", text="\ud800")
    assert b"\\ud800" in requests[1].content
    no_json: Any = {1, 2}
    for wrong in ({"metadata": {"a": float("nan")}}, {"metadata": {"a": no_json}}, {"expire_time": datetime.now()}):
        with pytest.raises(RecalldError) as caught:
            client.store(namespace="a", text="b", **wrong)  # pyright: ignore[reportArgumentType]
        assert caught.value.code == "invalid_argument"
    assert len(requests) == 2


@pytest.mark.parametrize("body", ["[]", "null", '{"results": [1]}', '{"results": 1, "query_tokens": "x"}', "[" * 100_000])
def test_an_answer_of_another_shape_is_no_surprise(body: str) -> None:
    http, _ = scripted(httpx.Response(200, text=body))
    client = Recalld(**GOOD, http_client=http)
    try:
        client.recall(namespace="a", query="b")
    except RecalldError as error:
        assert error.code == "unknown"


@pytest.mark.parametrize("body", ["null", "[]", '{"code": 7}', '{"code":"internal","details":[null,{"debug":[]}]}'])
def test_a_refusal_of_another_shape_is_an_error_all_the_same(body: str) -> None:
    http, _ = scripted(httpx.Response(500, text=body))
    with pytest.raises(RecalldError):
        Recalld(**GOOD, http_client=http).recall(namespace="a", query="b")


class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """Bytes that come one by one, and say when they are closed."""

    def __init__(self, text: str, chunk: int) -> None:
        raw = text.encode()
        self.chunks = [raw[at : at + chunk] for at in range(0, len(raw), chunk)]
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield from self.chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for each in self.chunks:
            yield each

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.closed = True


EVENTS = 'id: p1\r\n\r\nevent: stored\nid: p2\ndata: {"id": "mem_1",\ndata: "text": "Größe 😀\\n"}\n\n'


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1000])
def test_reads_events_however_they_are_cut_and_closes_when_left(chunk: int) -> None:
    stream = Stream(EVENTS, chunk)
    http, _ = scripted(httpx.Response(200, stream=stream))
    events = Recalld(**GOOD, http_client=http).watch(namespace="a")
    assert next(events).type == "heartbeat"
    second = next(events)
    assert second.type == "stored" and second.memory.text == "Größe 😀\n"
    events.close()
    assert stream.closed


async def _first_event(stream: Stream) -> str:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=stream))
    client = AsyncRecalld(**GOOD, http_client=httpx.AsyncClient(transport=transport))
    events = client.watch(namespace="a")
    first = await events.__anext__()
    await events.aclose()
    return first.type


def test_closes_when_left_async() -> None:
    for backend in ("asyncio", "trio") if _has_trio() else ("asyncio",):
        stream = Stream(EVENTS, 3)
        assert anyio.run(_first_event, stream, backend=backend) == "heartbeat"
        assert stream.closed


def _has_trio() -> bool:
    try:
        import trio  # type: ignore[import-not-found] # noqa: F401 # pyright: ignore
    except ImportError:
        return False
    return True


def test_an_error_says_what_it_is() -> None:
    error = RecalldError("not_found", "there is no such memory")
    assert str(error) == "not_found: there is no such memory"
    assert not error.retryable and RecalldError("unavailable", "").retryable


def test_every_name_that_is_promised_is_there() -> None:
    assert [name for name in recalld.__all__ if not hasattr(recalld, name)] == []
