"""Measures pgvector's filtered search: an HNSW index with iterative scans, and an index of the field.

Arguments: a folder for the database, the file of vectors, that of queries, and that of the field's values; then
the bounds, each of which lets the values below it match. Writes a line of JSON for each bound: the numbers that
were found for each query, and the milliseconds that each took.
"""

import json
import sys
import time

import numpy
from pgvector_system import System

DIMENSIONS = 384
TOP_K = 10


def main() -> None:
    folder, vectors_path, queries_path, values_path, *bounds = sys.argv[1:]
    vectors = numpy.fromfile(vectors_path, dtype=numpy.float32).reshape(-1, DIMENSIONS)
    queries = numpy.fromfile(queries_path, dtype=numpy.float32).reshape(-1, DIMENSIONS)
    values = numpy.fromfile(values_path, dtype=numpy.float64)
    system = System(None, folder)
    system.start()
    try:
        with system._pool.connection() as connection:
            connection.execute("ALTER TABLE memories ADD COLUMN r double precision")
            rows = "COPY memories (id, text, embedding, r) FROM STDIN WITH (FORMAT BINARY)"
            with connection.cursor().copy(rows) as copy:
                copy.set_types(["int8", "text", "vector", "float8"])
                for i, value in enumerate(values):
                    copy.write_row((i + 1, "", vectors[i], float(value)))
            connection.execute("CREATE INDEX by_r ON memories (r)")
            system.index(connection, memory="4GB")
            connection.execute("SET hnsw.iterative_scan = relaxed_order")
            connection.execute("SET hnsw.ef_search = 100")
            nearest = "SELECT id FROM memories WHERE r < %s ORDER BY embedding <=> %s LIMIT %s"
            for bound in map(float, bounds):
                found, took = [], []
                for query in queries:
                    begin = time.perf_counter()
                    rows = connection.execute(nearest, (bound, query, TOP_K)).fetchall()
                    took.append((time.perf_counter() - begin) * 1000)
                    found.append([int(number) for (number,) in rows])
                print(json.dumps({"found": found, "ms": took}), flush=True)
    finally:
        system.stop()


main()
