"""The client for programs that wait."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from types import TracebackType
from typing import Any, TypeVar, cast

import httpx

from ._call import call, delete
from ._calls import Calls
from ._contract import (
    LIST_MEMORIES,
    LIST_NAMESPACES,
    A,
    DeleteMemoryRequest,
    DeleteMemoryResponse,
    ExportMemoriesRequest,
    ListMemoriesRequest,
    ListMemoriesResponse,
    ListNamespacesRequest,
    ListNamespacesResponse,
    Memory,
    Method,
    Namespace,
    WatchNamespaceRequest,
)
from ._effects import Effect, Emit, Open, Pause, Read, Reply, Send, Steps, resume
from ._errors import RecalldError
from ._export import ExportedMemory, export_lines, export_memories
from ._failures import FAILURES, check_length, check_request_id, failure
from ._options import RETRIES, TIMEOUT, CallOptions, Defaults, Settings, settle
from ._pages import Pages, list_pages
from ._pools import LEFT, Place, Pools, process
from ._watch import GIVE_UP_AFTER, WatchEvent, watch

if sys.version_info >= (3, 11):
    from typing import Self, Unpack
else:
    from typing_extensions import Self, Unpack

T = TypeVar("T")


class _Driver:
    """Carries out the steps of one call."""

    def __init__(self, pools: Pools[httpx.Client], sleep: Callable[[float], None]) -> None:
        self._pools = pools
        self._opened_at: Place | None = None
        self._sleep = sleep
        self._stream: httpx.Response | None = None
        self._chunks: Iterator[bytes] = iter(())

    def outcome(self, effect: Effect) -> object:
        """Returns what an effect came to; that may be a RecalldError."""
        try:
            return self._perform(effect)
        except RecalldError as error:
            return error

    def _perform(self, effect: Effect) -> object:
        if isinstance(effect, Pause):
            self._sleep(effect.seconds)
            return None
        self._leave()
        self._http = self._pools.here()
        if isinstance(effect, Send):
            return self._guard(lambda: self._send(effect), effect.url, effect.timeout)
        if isinstance(effect, Open):
            return self._guard(lambda: self._open(effect), effect.url, effect.timeout)
        assert isinstance(effect, Read)
        return self._guard(lambda: self._read(effect), self._url(), effect.silence)

    def close(self) -> None:
        """Closes the stream that is open, if one is."""
        self._leave()
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def _leave(self) -> None:
        """Leaves a stream that was opened in another process: its connection is still in use there."""
        if self._stream is not None and self._opened_at != self._pools.place():
            LEFT.append((self._stream, self._chunks))
            self._stream = None

    def _guard(self, work: Callable[[], T], url: str, seconds: float) -> T:
        try:
            return work()
        except FAILURES as error:
            raise failure(error, url, seconds) from error

    def _url(self) -> str:
        return str(self._stream.url) if self._stream is not None else ""

    def _send(self, effect: Send) -> Reply:
        timed = httpx.Timeout(effect.timeout)
        headers, deadline = dict(effect.headers), time.monotonic() + effect.timeout
        request = self._http.build_request(
            "POST", effect.url, headers=headers, content=effect.body, timeout=timed
        )
        return self._whole(self._answer_to(request), deadline)

    def _open(self, effect: Open) -> Reply:
        self.close()
        timed = httpx.Timeout(effect.timeout)
        request = self._http.build_request("GET", effect.url, headers=dict(effect.headers), timeout=timed)
        response = self._answer_to(request)
        if response.status_code != 200:
            return self._whole(response, time.monotonic() + effect.timeout)
        self._opened_at = self._pools.place()
        self._stream, self._chunks = response, response.iter_bytes()
        return Reply(response.status_code, response.headers, b"")

    def _answer_to(self, request: httpx.Request) -> httpx.Response:
        """Sends a request. Redirects are not followed: the key is for no other address."""
        response = self._http.send(request, stream=True, follow_redirects=False)
        try:
            check_request_id(request.headers, response)
        except RecalldError:
            # Its body is unread, so that this ends the connection too.
            response.close()
            raise
        return response

    def _whole(self, response: httpx.Response, deadline: float) -> Reply:
        """Reads an answer to its end. A read that has begun may still take as long as an attempt."""
        body = bytearray()
        try:
            for chunk in response.iter_bytes():
                body += chunk
                check_length(len(body))
                if time.monotonic() > deadline:
                    raise TimeoutError
        finally:
            response.close()
        return Reply(response.status_code, response.headers, bytes(body))

    def _read(self, effect: Read) -> bytes | None:
        if self._stream is None:
            return None
        # httpcore takes the time for reading from here when it begins with the body.
        self._stream.request.extensions["timeout"]["read"] = effect.silence
        chunk = next(self._chunks, None)
        if chunk is None:
            self.close()
        return chunk


def _run(driver: _Driver, steps: Steps[T]) -> T:
    try:
        effect = next(steps)
        while True:
            effect = resume(steps, driver.outcome(effect))
    except StopIteration as ended:
        return cast(T, ended.value)
    finally:
        driver.close()


def _iterate(driver: _Driver, steps: Steps[None]) -> Generator[Any, None, None]:
    try:
        effect = next(steps)
        while True:
            if isinstance(effect, Emit):
                yield effect.item
                effect = steps.send(None)
            else:
                effect = resume(steps, driver.outcome(effect))
    except StopIteration:
        return
    finally:
        driver.close()


class Export:
    """A namespace as of one position: its memories to iterate over, or the lines of a file with them."""

    def __init__(self, memories: Callable[[], Iterator[ExportedMemory]], lines: Callable[[], Iterator[str]]) -> None:
        self._memories = memories
        self._lines = lines

    def __iter__(self) -> Iterator[ExportedMemory]:
        return self._memories()

    def lines(self) -> Iterator[str]:
        """Gives the lines as the server writes them, without their ends: to keep as a file that `recalld import` reads."""
        return self._lines()


class Recalld(Calls):
    """Calls one recalld server with one key.

    It keeps connections: use it as a context manager, or `close()` it. Threads may share it. A value that
    cannot be meant is a RecalldError `invalid_argument`, whose `field` names the option.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._defaults = Defaults(api_key, base_url, timeout, retries, headers, now)
        settle(self._defaults)
        # Reading the authorities' certificates is slow; all pools share them.
        tls = None if http_client else httpx.create_ssl_context()
        self._pools = Pools(http_client, lambda: httpx.Client(verify=tls or True), process)
        self._sleep = sleep

    def close(self) -> None:
        """Closes the connections, unless they are those of `http_client`."""
        own = self._pools.own()
        if own is not None:
            own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _call(
        self, method: Method[A], request: Mapping[str, object], options: CallOptions | None
    ) -> A:
        return _run(self._driver(), call(method, request, self._settle(options)))

    def delete(
        self, *, options: CallOptions | None = None, **request: Unpack[DeleteMemoryRequest]
    ) -> DeleteMemoryResponse:
        """Forgets one memory. A memory that is gone once an earlier attempt's answer was lost is no error."""
        return _run(self._driver(), delete(request, self._settle(options)))

    def namespaces(
        self, *, options: CallOptions | None = None, **request: Unpack[ListNamespacesRequest]
    ) -> Pages[Namespace, ListNamespacesResponse]:
        """Lists the account's namespaces: `for each in recalld.namespaces()`."""
        return Pages(
            lambda: self._iterate(list_pages(LIST_NAMESPACES, request, lambda: self._settle(options))),
            lambda page: page.namespaces,
        )

    def memories(
        self, *, options: CallOptions | None = None, **request: Unpack[ListMemoriesRequest]
    ) -> Pages[Memory, ListMemoriesResponse]:
        """Lists a namespace's memories: `for memory in recalld.memories(namespace="ana")`."""
        return Pages(
            lambda: self._iterate(list_pages(LIST_MEMORIES, request, lambda: self._settle(options))),
            lambda page: page.memories,
        )

    def watch(
        self,
        *,
        options: CallOptions | None = None,
        give_up_after: float = GIVE_UP_AFTER,
        **request: Unpack[WatchNamespaceRequest],
    ) -> Generator[WatchEvent, None, None]:
        """Yields every change of a namespace for as long as it is iterated over.

        The first event is a heartbeat: what is stored after it will be told. A connection that breaks is
        made again, after the last event, for `give_up_after` seconds.
        """
        return self._iterate(watch(request, self._settle(options), give_up_after))

    def export(
        self, *, options: CallOptions | None = None, **request: Unpack[ExportMemoriesRequest]
    ) -> Export:
        """Reads a namespace as of one position. One that ends early is a RecalldError `unavailable`."""
        settings = self._settle(options)
        return Export(
            lambda: self._iterate(export_memories(request, settings)),
            lambda: self._iterate(export_lines(request, settings)),
        )

    def _settle(self, options: CallOptions | None) -> Settings:
        return settle(self._defaults, options)

    def _driver(self) -> _Driver:
        return _Driver(self._pools, self._sleep)

    def _iterate(self, steps: Steps[None]) -> Generator[Any, None, None]:
        return _iterate(self._driver(), steps)


def carry_out(recalld: Recalld, steps: Callable[[Callable[[], Settings]], Steps[T]]) -> T:
    """Makes several calls as one list of steps. Each has settings of its own."""
    driver = recalld._driver()  # pyright: ignore[reportPrivateUsage]
    settle_one = recalld._settle  # pyright: ignore[reportPrivateUsage]
    return _run(driver, steps(lambda: settle_one(None)))
