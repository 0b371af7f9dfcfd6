"""LangChain's retriever against a real server."""

from __future__ import annotations

import asyncio
import os

import pytest

from recalld import AsyncRecalld, Recalld, RecalldError
from recalld.langchain import RecalldRetriever

NAMESPACE = "py retriever"


def test_finds_documents_by_meaning() -> None:
    url, key = os.environ["RECALLD_URL"], os.environ["RECALLD_API_KEY"]
    with Recalld(base_url=url, api_key=key) as recalld:
        recalld.store(namespace=NAMESPACE, text="Ana is allergic to peanuts.", metadata={"source": "chat"})
        recalld.store(namespace=NAMESPACE, text="Ben is allergic to cats.", metadata={"source": "mail"})
        retriever = RecalldRetriever(recalld=recalld, namespace=NAMESPACE)
        first, second = retriever.invoke("Which foods are bad for Ana?")
        assert first.page_content == "Ana is allergic to peanuts." and (first.id or "").startswith("mem_")
        assert first.metadata["source"] == "chat"
        assert first.metadata["recalld"]["score"] > second.metadata["recalld"]["score"]
        assert asyncio.run(retriever.ainvoke("Which foods are bad for Ana?")) == [first, second]
        set_ = RecalldRetriever(
            recalld=recalld, namespace=NAMESPACE, top_k=1, filter={"source": "mail"}, tags=["x"]
        )
        piped = set_ | (lambda documents: [each.page_content for each in documents])
        assert piped.invoke("Which foods are bad for Ana?") == ["Ben is allergic to cats."]
        with pytest.raises(RecalldError, match="top_k"):
            RecalldRetriever(recalld=recalld, namespace=NAMESPACE, top_k=21).invoke("?")

        async def awaited() -> list[str]:
            async with AsyncRecalld(base_url=url, api_key=key) as client:
                both = RecalldRetriever(recalld=recalld, async_recalld=client, namespace=NAMESPACE)
                return [each.page_content for each in await both.ainvoke("Who has trouble with cats?")]

        assert asyncio.run(awaited())[0] == "Ben is allergic to cats."
