"""Chroma: its server over HTTP, called by its Python client, which embeds."""

import subprocess
import sys
import time
from pathlib import Path

import chromadb
from chromadb import Documents, EmbeddingFunction, Embeddings

from free_port import free_port

BATCH = 1000
TOP_K = 5
START_TIMEOUT_S = 60


class SameModel(EmbeddingFunction[Documents]):
    def __init__(self, model) -> None:
        self._model = model

    def __call__(self, input: Documents) -> Embeddings:
        return [self._model.embed(text) for text in input]


class System:
    def __init__(self, model, data_dir: str) -> None:
        self._embed = SameModel(model)
        self._data_dir = data_dir
        self._port = free_port()
        self._server: subprocess.Popen | None = None

    def version(self) -> str:
        return chromadb.__version__

    def start(self) -> list[int]:
        program = str(Path(sys.executable).parent / "chroma")
        where = ["--path", self._data_dir, "--host", "127.0.0.1", "--port", str(self._port)]
        log = open(Path(self._data_dir).with_suffix(".log"), "ab")
        self._server = subprocess.Popen([program, "run", *where], stdout=log, stderr=log)
        client = self._connect()
        self._collection = client.get_or_create_collection(
            "bench", embedding_function=self._embed, configuration={"hnsw": {"space": "cosine"}}
        )
        return [self._server.pid]

    def _connect(self):
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                return chromadb.HttpClient(host="127.0.0.1", port=self._port)
            except Exception:
                if time.monotonic() > deadline or self._server.poll() is not None:
                    raise
                time.sleep(0.01)

    def fill(self, begin: int, texts: list[str], vectors) -> None:
        for at in range(0, len(texts), BATCH):
            self._collection.add(
                ids=[str(begin + at + i) for i in range(len(texts[at : at + BATCH]))],
                documents=texts[at : at + BATCH],
                embeddings=vectors[at : at + BATCH],
            )

    def store(self, number: int, text: str) -> None:
        self.store_many(number, [text])

    def store_many(self, begin: int, texts: list[str]) -> None:
        self._collection.add(ids=[str(begin + i) for i in range(len(texts))], documents=texts)

    def recall(self, query: str, top_k: int = TOP_K) -> list[str]:
        return self._collection.query(query_texts=[query], n_results=top_k)["documents"][0]

    def stop(self) -> None:
        if self._server is None:
            return
        self._server.terminate()
        self._server.wait()
        self._server = None
