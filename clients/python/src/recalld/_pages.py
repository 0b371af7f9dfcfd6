"""Lists that are read page by page, while they are iterated over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from ._call import call
from ._contract import ListMemoriesResponse, ListNamespacesResponse, Method
from ._effects import Emit, Steps
from ._errors import RecalldError
from ._options import Settings

T = TypeVar("T")
P = TypeVar("P")
L = TypeVar("L", ListMemoriesResponse, ListNamespacesResponse)


def list_pages(
    method: Method[L], request: Mapping[str, Any], settle: Callable[[], Settings]
) -> Steps[None]:
    """Emits the pages of a list. Each is a call of its own."""
    token: str | None = request.get("page_token")
    while True:
        page = yield from call(method, {**request, "page_token": token}, settle())
        yield Emit(page)
        if page.next_page_token == "":
            return
        if page.next_page_token == token:
            raise RecalldError("internal", "the list does not go on", request_id=page.request_id)
        token = page.next_page_token


class Pages(Generic[T, P]):
    """A list to iterate over. `pages()` gives the pages themselves, each with its request id."""

    def __init__(self, pages: Callable[[], Iterator[P]], items: Callable[[P], Sequence[T]]) -> None:
        self._pages = pages
        self._items = items

    def pages(self) -> Iterator[P]:
        """Gives the pages themselves."""
        return self._pages()

    def __iter__(self) -> Iterator[T]:
        for page in self._pages():
            yield from self._items(page)


class AsyncPages(Generic[T, P]):
    """A list to iterate over by `async for`. `pages()` gives the pages themselves, each with its request id."""

    def __init__(self, pages: Callable[[], AsyncIterator[P]], items: Callable[[P], Sequence[T]]) -> None:
        self._pages = pages
        self._items = items

    def pages(self) -> AsyncIterator[P]:
        """Gives the pages themselves."""
        return self._pages()

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self._pages():
            for item in self._items(page):
                yield item
