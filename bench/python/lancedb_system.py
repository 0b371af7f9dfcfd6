"""LanceDB: a library in the caller's process, which embeds too."""

import lancedb
import pyarrow

DIMENSIONS = 384
TOP_K = 5
SCHEMA = pyarrow.schema(
    [
        ("id", pyarrow.int64()),
        ("text", pyarrow.string()),
        ("vector", pyarrow.list_(pyarrow.float32(), DIMENSIONS)),
    ]
)


class System:
    def __init__(self, model, data_dir: str) -> None:
        self._model = model
        self._data_dir = data_dir

    def version(self) -> str:
        return lancedb.__version__

    def start(self) -> list[int]:
        database = lancedb.connect(self._data_dir)
        self._table = database.create_table("memories", schema=SCHEMA, exist_ok=True)
        return []

    def fill(self, begin: int, texts: list[str], vectors) -> None:
        """No index: its documentation finds none needed up to 100,000 rows."""
        rows = pyarrow.table(
            {
                "id": range(begin, begin + len(texts)),
                "text": texts,
                "vector": pyarrow.FixedSizeListArray.from_arrays(vectors.ravel(), DIMENSIONS),
            },
            schema=SCHEMA,
        )
        self._table.add(rows)
        # Every store before this one left a file of its own.
        self._table.optimize()

    def store(self, number: int, text: str) -> None:
        self._table.add([{"id": number, "text": text, "vector": self._model.embed(text)}])

    def recall(self, query: str, top_k: int = TOP_K) -> list[str]:
        search = self._table.search(self._model.embed(query)).distance_type("cosine").limit(top_k)
        return [found["text"] for found in search.to_list()]

    def stop(self) -> None:
        pass
