"""Streams that fall silent, over real connections."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import anyio
import pytest

from recalld import AsyncRecalld, Recalld

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


@pytest.fixture
def silent() -> Iterator[tuple[str, list[str]]]:
    """A server whose streams say one thing each and then nothing, and the first lines that it was asked."""
    asked: list[str] = []
    listening = socket.create_server(("127.0.0.1", 0))
    kept: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            kept.append(connection)
            asked.append(connection.recv(65536).decode().split(" ")[1])
            connection.sendall(HEAD + f"id: p{len(asked)}\n\n".encode())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}", asked
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    for connection in kept:
        connection.close()
    thread.join(5)


@pytest.fixture(autouse=True)
def short_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recalld._watch.SILENCE", 0.2)


EXPECTED = ["/namespaces/a/events", "/namespaces/a/events?position=p1"]


def test_a_silent_connection_counts_as_broken(silent: tuple[str, list[str]]) -> None:
    url, asked = silent
    with Recalld(api_key="rcl_x", base_url=url, sleep=lambda _: None) as recalld:
        events = recalld.watch(namespace="a")
        assert [next(events).position, next(events).position] == ["p1", "p2"]
        events.close()
    assert asked == EXPECTED


async def _watch(url: str) -> list[str]:
    async with AsyncRecalld(api_key="rcl_x", base_url=url, sleep=lambda _: anyio.sleep(0)) as recalld:
        events = recalld.watch(namespace="a")
        positions = [(await events.__anext__()).position, (await events.__anext__()).position]
        await events.aclose()
        return positions


def test_a_silent_connection_counts_as_broken_async(silent: tuple[str, list[str]]) -> None:
    url, asked = silent
    assert anyio.run(_watch, url) == ["p1", "p2"]
    assert asked == EXPECTED
