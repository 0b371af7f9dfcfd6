"""LMEB, the memory benchmark of MTEB, asked of a running recalld: python lmeb.py [TASK…]

Follows SearchProtocol in mteb/models/models_protocols.py of mteb 2.26.24: MTEB gives the texts of a task, then its
queries, and reckons the figures. eval/adapters/README.md says how to start the server.
"""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mteb
from mteb.models.model_meta import ModelMeta
from recalld import Recalld

BATCH = 256
"""Most memories of one batch."""
TEXT_BYTES_MAX = 65_536
TOP_K_MAX = 200
"""Most results that a server with TOP_K_MAX=200 answers."""
CALLERS = 4


class RecalldSearch:
    """One namespace for each corpus, dropped when the next comes."""

    def __init__(self, recalld: Recalld, mode: str = "HYBRID", top_k_max: int = TOP_K_MAX) -> None:
        self._recalld = recalld
        self._mode = mode
        self._top_k_max = top_k_max
        self._namespace: str | None = None

    @property
    def mteb_model_meta(self) -> ModelMeta:
        overwrites = {"name": f"recalld/{self._mode.lower()}", "revision": "1", "languages": ["eng-Latn"]}
        return ModelMeta.create_empty(overwrites=overwrites)

    def index(self, corpus: Iterable[Mapping[str, Any]], **_: Any) -> None:
        self.drop()
        self._namespace = f"lmeb-{uuid.uuid4()}"
        for batch in _batches(_memory_of(row) for row in corpus):
            answer = self._recalld.store_batch(namespace=self._namespace, memories=batch)
            errors = [result.error for result in answer.results if result.error is not None]
            if errors:
                raise RuntimeError(f"{len(errors)} texts were not stored, the first one: {errors[0]}")

    def search(
        self, queries: Iterable[Mapping[str, Any]], *, top_k: int, top_ranked: Any = None, **_: Any
    ) -> dict[str, dict[str, float]]:
        if top_ranked is not None:
            raise NotImplementedError("recalld finds memories; it does not order those of another system")

        def found(query: Mapping[str, Any]) -> dict[str, float]:
            answer = self._recalld.recall(
                namespace=self._namespace or "",
                query=_cut(_said(query["text"])),
                mode=self._mode,  # type: ignore[typeddict-item]
                top_k=min(top_k, self._top_k_max),
                explain=True,
            )
            # `score` is the cosine: HYBRID orders by `rank`, which weighs words, too.
            return {result.metadata["doc"]: result.explanation.rank for result in answer.results}

        rows = list(queries)
        with ThreadPoolExecutor(CALLERS) as callers:
            return dict(zip([row["id"] for row in rows], callers.map(found, rows), strict=True))

    def drop(self) -> None:
        if self._namespace is not None:
            self._recalld.delete_namespace(namespace=self._namespace, force=True)
        self._namespace = None


def _memory_of(row: Mapping[str, Any]) -> dict[str, Any]:
    # An empty text cannot be stored; nothing finds "-".
    text = f"{row.get('title') or ''} {_said(row['text'])}".strip() or "-"
    return {"text": _cut(text), "metadata": {"doc": row["id"]}}


def _said(text: Any) -> str:
    """A text, or the turns of a conversation."""
    if isinstance(text, str):
        return text
    return "\n".join(turn if isinstance(turn, str) else turn["content"] for turn in text)


def _cut(text: str) -> str:
    return text.encode()[:TEXT_BYTES_MAX].decode(errors="ignore")


def _batches(memories: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Batches of so many memories and bytes as one call may have."""
    batch: list[dict[str, Any]] = []
    size = 0
    for memory in memories:
        more = len(memory["text"].encode())
        if batch and (len(batch) == BATCH or size + more > BATCH * 4096):
            yield batch
            batch, size = [], 0
        batch.append(memory)
        size += more
    if batch:
        yield batch


if __name__ == "__main__":
    url = os.environ.get("RECALLD_URL", "http://127.0.0.1:8080")
    with Recalld(api_key=os.environ["RECALLD_API_KEY"], base_url=url) as server:
        tasks = mteb.get_tasks(tasks=sys.argv[1:]) if sys.argv[1:] else mteb.get_benchmark("LMEB").tasks
        search = RecalldSearch(server, os.environ.get("RECALLD_MODE", "HYBRID"))
        try:
            for result in mteb.evaluate(search, tasks).task_results:
                print(result.task_name, result.get_score())
        finally:
            search.drop()
