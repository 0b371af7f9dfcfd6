"""The client for programs that await, under asyncio or trio."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, TypeVar, cast

import anyio
import httpx

from ._call import call, delete
from ._calls import AsyncCalls
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
from ._pages import AsyncPages, list_pages
from ._pools import LEFT, Place, Pools, event_loop
from ._watch import GIVE_UP_AFTER, WatchEvent, watch

if sys.version_info >= (3, 11):
    from typing import Self, Unpack
else:
    from typing_extensions import Self, Unpack

T = TypeVar("T")


class _Driver:
    """Carries out the steps of one call."""

    def __init__(self, pools: Pools[httpx.AsyncClient], sleep: Callable[[float], Awaitable[None]]) -> None:
        self._pools = pools
        self._opened_at: Place | None = None
        self._sleep = sleep
        self._stream: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None

    async def outcome(self, effect: Effect) -> object:
        """Returns what an effect came to; that may be a RecalldError."""
        try:
            return await self._perform(effect)
        except RecalldError as error:
            return error

    async def _perform(self, effect: Effect) -> object:
        if isinstance(effect, Pause):
            await self._sleep(effect.seconds)
            return None
        self._leave()
        self._http = self._pools.here()
        if isinstance(effect, Send):
            return await self._within(effect.timeout, self._send(effect), effect.url)
        if isinstance(effect, Open):
            return await self._within(effect.timeout, self._open(effect), effect.url)
        assert isinstance(effect, Read)
        return await self._within(effect.silence, self._read(), self._url())

    async def close(self) -> None:
        """Closes the stream that is open, if one is."""
        self._leave()
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.aclose()

    def _leave(self) -> None:
        """Leaves a stream that was opened in another process or event loop: its connection is still in use there."""
        if self._stream is not None and self._opened_at != self._pools.place():
            LEFT.append((self._stream, self._chunks))
            self._stream = None

    async def _within(self, seconds: float, work: Awaitable[T], url: str) -> T:
        try:
            with anyio.fail_after(seconds):
                return await work
        except FAILURES as error:
            raise failure(error, url, seconds) from error

    def _url(self) -> str:
        return str(self._stream.url) if self._stream is not None else ""

    async def _send(self, effect: Send) -> Reply:
        headers = dict(effect.headers)
        request = self._http.build_request(
            "POST", effect.url, headers=headers, content=effect.body, timeout=None
        )
        return await self._whole(await self._answer_to(request))

    async def _open(self, effect: Open) -> Reply:
        await self.close()
        request = self._http.build_request("GET", effect.url, headers=dict(effect.headers), timeout=None)
        response = await self._answer_to(request)
        if response.status_code != 200:
            return await self._whole(response)
        self._opened_at = self._pools.place()
        self._stream, self._chunks = response, response.aiter_bytes()
        return Reply(response.status_code, response.headers, b"")

    async def _answer_to(self, request: httpx.Request) -> httpx.Response:
        """Sends a request. Redirects are not followed: the key is for no other address."""
        response = await self._http.send(request, stream=True, follow_redirects=False)
        try:
            check_request_id(request.headers, response)
        except RecalldError:
            # Its body is unread, so that this ends the connection too.
            await response.aclose()
            raise
        return response

    async def _whole(self, response: httpx.Response) -> Reply:
        body = bytearray()
        try:
            async for chunk in response.aiter_bytes():
                body += chunk
                check_length(len(body))
        finally:
            await response.aclose()
        return Reply(response.status_code, response.headers, bytes(body))

    async def _read(self) -> bytes | None:
        if self._stream is None or self._chunks is None:
            return None
        try:
            return await self._chunks.__anext__()
        except StopAsyncIteration:
            await self.close()
            return None


async def _run(driver: _Driver, steps: Steps[T]) -> T:
    try:
        effect = next(steps)
        while True:
            effect = resume(steps, await driver.outcome(effect))
    except StopIteration as ended:
        return cast(T, ended.value)
    finally:
        await driver.close()


async def _iterate(driver: _Driver, steps: Steps[None]) -> AsyncGenerator[Any, None]:
    try:
        effect = next(steps)
        while True:
            if isinstance(effect, Emit):
                yield effect.item
                effect = steps.send(None)
            else:
                effect = resume(steps, await driver.outcome(effect))
    except StopIteration:
        return
    finally:
        await driver.close()


class AsyncExport:
    """A namespace as of one position: its memories to iterate over, or the lines of a file with them."""

    def __init__(self, memories: Callable[[], AsyncIterator[ExportedMemory]], lines: Callable[[], AsyncIterator[str]]) -> None:
        self._memories = memories
        self._lines = lines

    def __aiter__(self) -> AsyncIterator[ExportedMemory]:
        return self._memories()

    def lines(self) -> AsyncIterator[str]:
        """Gives the lines as the server writes them, without their ends: to keep as a file that `recalld import` reads."""
        return self._lines()


class AsyncRecalld(AsyncCalls):
    """Calls one recalld server with one key.

    It keeps connections: use it by `async with`, or `close()` it. Tasks may share it. A value that
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
        http_client: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._defaults = Defaults(api_key, base_url, timeout, retries, headers, now)
        settle(self._defaults)
        # Reading the authorities' certificates is slow; all pools share them.
        tls = None if http_client else httpx.create_ssl_context()
        self._pools = Pools(http_client, lambda: httpx.AsyncClient(verify=tls or True), event_loop)
        self._sleep = sleep

    async def close(self) -> None:
        """Closes the connections, unless they are those of `http_client`."""
        own = self._pools.own()
        if own is not None:
            await own.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _call(
        self, method: Method[A], request: Mapping[str, object], options: CallOptions | None
    ) -> A:
        return await _run(self._driver(), call(method, request, self._settle(options)))

    async def delete(
        self, *, options: CallOptions | None = None, **request: Unpack[DeleteMemoryRequest]
    ) -> DeleteMemoryResponse:
        """Forgets one memory. A memory that is gone once an earlier attempt's answer was lost is no error."""
        return await _run(self._driver(), delete(request, self._settle(options)))

    def namespaces(
        self, *, options: CallOptions | None = None, **request: Unpack[ListNamespacesRequest]
    ) -> AsyncPages[Namespace, ListNamespacesResponse]:
        """Lists the account's namespaces: `async for each in recalld.namespaces()`."""
        return AsyncPages(
            lambda: self._iterate(list_pages(LIST_NAMESPACES, request, lambda: self._settle(options))),
            lambda page: page.namespaces,
        )

    def memories(
        self, *, options: CallOptions | None = None, **request: Unpack[ListMemoriesRequest]
    ) -> AsyncPages[Memory, ListMemoriesResponse]:
        """Lists a namespace's memories: `async for memory in recalld.memories(namespace="ana")`."""
        return AsyncPages(
            lambda: self._iterate(list_pages(LIST_MEMORIES, request, lambda: self._settle(options))),
            lambda page: page.memories,
        )

    def watch(
        self,
        *,
        options: CallOptions | None = None,
        give_up_after: float = GIVE_UP_AFTER,
        **request: Unpack[WatchNamespaceRequest],
    ) -> AsyncGenerator[WatchEvent, None]:
        """Yields every change of a namespace for as long as it is iterated over.

        The first event is a heartbeat: what is stored after it will be told. A connection that breaks is
        made again, after the last event, for `give_up_after` seconds. `contextlib.aclosing` closes the
        connection as soon as the loop ends.
        """
        return self._iterate(watch(request, self._settle(options), give_up_after))

    def export(
        self, *, options: CallOptions | None = None, **request: Unpack[ExportMemoriesRequest]
    ) -> AsyncExport:
        """Reads a namespace as of one position. One that ends early is a RecalldError `unavailable`."""
        settings = self._settle(options)
        return AsyncExport(
            lambda: self._iterate(export_memories(request, settings)),
            lambda: self._iterate(export_lines(request, settings)),
        )

    def _settle(self, options: CallOptions | None) -> Settings:
        return settle(self._defaults, options)

    def _driver(self) -> _Driver:
        return _Driver(self._pools, self._sleep)

    def _iterate(self, steps: Steps[None]) -> AsyncGenerator[Any, None]:
        return _iterate(self._driver(), steps)


async def carry_out_awaiting(recalld: AsyncRecalld, steps: Callable[[Callable[[], Settings]], Steps[T]]) -> T:
    """Makes several calls as one list of steps. Each has settings of its own."""
    driver = recalld._driver()  # pyright: ignore[reportPrivateUsage]
    settle_one = recalld._settle  # pyright: ignore[reportPrivateUsage]
    return await _run(driver, steps(lambda: settle_one(None)))
