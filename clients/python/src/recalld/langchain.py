"""LangChain's retriever over recalld: `pip install "recalld[langchain]"`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from ._async import AsyncRecalld
from ._contract import Mode, RecallRequest, RecallResponse
from ._sync import Recalld

__all__ = ["RecalldRetriever"]


class RecalldRetriever(BaseRetriever):
    """Finds memories as documents: with their ids and metadata, and under `recalld` the score and the time.

    Calls that await are made by `async_recalld`; without it, `recalld` makes them in a thread.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    recalld: Recalld
    async_recalld: AsyncRecalld | None = None
    namespace: str
    top_k: int | None = None
    mode: Mode | None = None
    filter: Mapping[str, Any] | None = None
    min_score: float | None = None
    min_fit: float | None = None
    include_superseded: bool | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return _documents(self.recalld.recall(**self._request(query)))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        if self.async_recalld is None:
            return await super()._aget_relevant_documents(query, run_manager=run_manager)
        return _documents(await self.async_recalld.recall(**self._request(query)))

    def _request(self, query: str) -> RecallRequest:
        request: dict[str, Any] = {
            "query": query,
            "namespace": self.namespace,
            "top_k": self.top_k,
            "mode": self.mode,
            "filter": self.filter,
            "min_score": self.min_score,
            "min_fit": self.min_fit,
            "include_superseded": self.include_superseded,
        }
        return cast(RecallRequest, {name: value for name, value in request.items() if value is not None})


def _documents(answer: RecallResponse) -> list[Document]:
    return [
        Document(
            id=result.id,
            page_content=result.text,
            metadata={
                **(result.metadata or {}),
                "recalld": {"score": result.score, "created_at": result.created_at},
            },
        )
        for result in answer.results
    ]
