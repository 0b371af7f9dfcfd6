"""Connections over real sockets: of forked processes, of several event loops, and such as are out of step."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import re
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from importlib.util import find_spec
from typing import Any

import anyio
import httpx
import pytest

from recalld import AsyncRecalld, Recalld, RecalldError, WatchEvent

can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


class Server:
    """
    Answers with the number of the connection. The first `strays` answers are to another request.

    Programs beside this one may try a port that was theirs: connections without the client's key do not count.
    """

    def __init__(self) -> None:
        self.strays = 0
        self.redirect = ""
        self.asked: list[str] = []
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._open: list[socket.socket] = []
        self._counting = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def connections(self) -> int:
        return len(self._open)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        file = connection.makefile("rb")
        number = 0
        while first := file.readline().decode():
            head = first
            while (line := file.readline().decode()) not in ("\r\n", ""):
                head += line
            file.read(int((re.search(r"content-length: (\d+)", head, re.I) or [0, 0])[1]))
            if not re.search(r"^authorization: Bearer k\r$", head, re.I | re.M):
                return connection.close()
            if number == 0:
                with self._counting:
                    self._open.append(connection)
                    number = len(self._open)
            self.asked.append(head)
            found = re.search(r"x-request-id: (\S+)", head, re.I)
            request_id = found[1] if found else ""
            if self.strays > 0:
                self.strays -= 1
                request_id = "0" * 32
            if self.redirect:
                more = f"HTTP/1.1 307 Moved\r\nlocation: {self.redirect}\r\ncontent-length: 0\r\n\r\n"
            elif "/events" in first:
                more = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                more += f"x-request-id: {request_id}\r\n\r\nid: p{number}\n\n"
            else:
                body = json.dumps({"memories": number})
                more = f"HTTP/1.1 200 OK\r\nx-request-id: {request_id}\r\ncontent-length: {len(body)}\r\n\r\n{body}"
            connection.sendall(more.encode())

    def close(self) -> None:
        self._listening.close()
        for connection in self._open:
            connection.close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def client_of(server: Server, **options: Any) -> Recalld:
    return Recalld(api_key="k", base_url=server.url, **{"sleep": lambda _: None, **options})


def async_client_of(server: Server, **options: Any) -> AsyncRecalld:
    return AsyncRecalld(api_key="k", base_url=server.url, sleep=lambda _: anyio.sleep(0), **options)


def in_child(work: Callable[[], object]) -> object:
    """Returns what a function gives, or raises, in a forked process."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def run() -> None:
        try:
            theirs.send(work())
        except Exception as error:
            theirs.send(error)

    process = context.Process(target=run)
    process.start()
    assert ours.poll(20)
    got: object = ours.recv()
    process.join(20)
    return got


@can_fork
def test_a_forked_process_has_connections_of_its_own(server: Server) -> None:
    client = client_of(server)

    def count() -> int:
        return client.count(namespace="a").memories

    def count_and_close() -> int:
        with client:
            return count()

    assert count() == 1
    assert in_child(count_and_close) == 2
    # What the child closed was its own.
    assert (count(), count()) == (1, 1)
    got: list[object] = []
    thread = threading.Thread(target=lambda: got.append(in_child(count)))
    thread.start()
    thread.join(30)
    assert got == [3] and count() == 1


@can_fork
def test_a_forked_process_watches_by_a_connection_of_its_own(server: Server) -> None:
    client = client_of(server)
    events: Generator[WatchEvent, None, None] = client.watch(namespace="a")
    assert next(events).position == "p1"
    assert in_child(lambda: next(events).position) == "p2"
    assert in_child(events.close) is None
    events.close()


@can_fork
def test_a_forked_process_awaits_by_connections_of_its_own(server: Server) -> None:
    client = async_client_of(server)

    async def count() -> int:
        return (await client.count(namespace="a")).memories

    async def main() -> None:
        assert await count() == 1
        assert await anyio.to_thread.run_sync(in_child, lambda: asyncio.run(count())) == 2
        assert await count() == 1
        await client.close()

    asyncio.run(main())


@can_fork
def test_a_forked_process_needs_an_http_client_of_its_own(server: Server) -> None:
    with httpx.Client() as http:
        client = client_of(server, http_client=http)
        client.count(namespace="a")
        error = in_child(lambda: client.count(namespace="a"))
    assert isinstance(error, RecalldError) and error.code == "failed_precondition"


@pytest.mark.parametrize("backend", ["asyncio", "trio"] if find_spec("trio") else ["asyncio"])
def test_several_event_loops_may_use_one_client(server: Server, backend: str) -> None:
    client = async_client_of(server)

    async def count() -> int:
        return (await client.count(namespace="a")).memories

    assert [anyio.run(count, backend=backend) for _ in range(3)] == [1, 2, 3]


def test_several_event_loops_may_use_one_client_at_once(server: Server) -> None:
    client = async_client_of(server)

    async def count() -> int:
        return (await client.count(namespace="a")).memories

    async def main() -> None:
        assert await count() == 1
        assert await anyio.to_thread.run_sync(asyncio.run, count()) == 2
        assert await count() == 1
        await client.close()

    asyncio.run(main())


def test_a_second_event_loop_needs_an_http_client_of_its_own(server: Server) -> None:
    client = async_client_of(server, http_client=httpx.AsyncClient())

    async def count() -> int:
        return (await client.count(namespace="a")).memories

    assert asyncio.run(count()) == 1
    with pytest.raises(RecalldError, match="event loop") as caught:
        asyncio.run(count())
    assert caught.value.code == "failed_precondition"


def test_the_answer_to_another_request_ends_the_connection(server: Server) -> None:
    server.strays = 1
    with client_of(server) as client:
        assert client.count(namespace="a").memories == 2
        server.strays = 3
        with pytest.raises(RecalldError, match="another request") as caught:
            client.count(namespace="a")
        assert (caught.value.code, caught.value.attempts, server.connections) == ("unavailable", 3, 4)
        server.strays = 1
        assert next(client.watch(namespace="a")).position == "p6"


def test_the_answer_to_another_request_ends_the_connection_async(server: Server) -> None:
    async def main() -> None:
        server.strays = 1
        async with async_client_of(server) as client:
            assert (await client.count(namespace="a")).memories == 2
            server.strays = 3
            with pytest.raises(RecalldError, match="another request") as caught:
                await client.count(namespace="a")
            assert (caught.value.code, caught.value.attempts, server.connections) == ("unavailable", 3, 4)
            server.strays = 1
            events: AsyncGenerator[WatchEvent, None] = client.watch(namespace="a")
            assert (await events.__anext__()).position == "p6"
            await events.aclose()

    asyncio.run(main())


def test_an_id_that_the_server_replaces_is_no_other_request(server: Server) -> None:
    server.strays = 1
    with client_of(server) as client:
        assert client.count(namespace="a", options={"request_id": "my id"}).memories == 1


def test_a_redirect_is_not_followed(server: Server) -> None:
    other = Server()
    server.redirect = other.url
    with httpx.Client(follow_redirects=True) as http:
        with pytest.raises(RecalldError) as caught:
            client_of(server, http_client=http).count(namespace="a")
        assert caught.value.status == 307
        with pytest.raises(RecalldError):
            next(client_of(server, http_client=http).watch(namespace="a"))

    async def main() -> None:
        async with httpx.AsyncClient(follow_redirects=True) as http:
            with pytest.raises(RecalldError):
                await async_client_of(server, http_client=http).count(namespace="a")

    asyncio.run(main())
    assert len(server.asked) == 3 and other.asked == []
    other.close()
