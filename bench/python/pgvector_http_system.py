"""pgvector behind a minimal HTTP server that does recalld's duties; the caller sends JSON with a key."""

import hashlib
import http.client
import os
import subprocess
import sys
import time
from pathlib import Path

import asyncpg
import pgvector_system
import uvicorn
from free_port import free_port

KEY = "bench"
ALLOWED = 1_000_000_000
# One process for each core, as uvicorn is run in production: with one for all, 16 callers got a tenth less.
WORKERS = os.cpu_count() or 1
START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 10


class System(pgvector_system.System):
    """Answers no calls itself: it fills the database, and starts and stops both servers."""

    connections = 1

    def __init__(self, model, data_dir: str) -> None:
        super().__init__(model, data_dir)
        self._server: subprocess.Popen | None = None
        self._port = free_port()

    def version(self) -> str:
        return f"{super().version()}, uvicorn {uvicorn.__version__}, asyncpg {asyncpg.__version__}"

    def address(self) -> dict:
        return {"port": self._port, "key": KEY}

    def start(self) -> list[int]:
        pids = super().start()
        with self._pool.connection() as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS keys (hash bytea PRIMARY KEY, account bigint, used bigint, allowed bigint)"
            )
            connection.execute(
                "INSERT INTO keys VALUES (%s, 1, 0, %s) ON CONFLICT DO NOTHING",
                (hashlib.sha256(f"Bearer {KEY}".encode()).digest(), ALLOWED),
            )
            connection.execute("CREATE SEQUENCE IF NOT EXISTS memory_ids MINVALUE 0")
        self._start_server()
        return [*pids, self._server.pid]

    def fill(self, begin: int, texts: list[str], vectors) -> None:
        super().fill(begin, texts, vectors)
        with self._pool.connection() as connection:
            connection.execute("SELECT setval('memory_ids', %s, false)", (begin + len(texts),))

    def _start_server(self) -> None:
        command = [sys.executable, "-m", "uvicorn", "pgvector_http:app", "--port", str(self._port)]
        options = ["--workers", str(WORKERS), "--no-access-log", "--log-level", "warning"]
        settings = {"MODEL_FOLDER": self._model.folder, "POSTGRES": str(self._folder), "WORKERS": str(WORKERS)}
        self._server = subprocess.Popen(
            [*command, *options], env={**os.environ, **settings}, cwd=Path(__file__).parent, stdout=2
        )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._answers():
            if time.monotonic() > deadline or self._server.poll() is not None:
                raise RuntimeError("the HTTP server did not start")
            time.sleep(0.01)

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=START_TIMEOUT_S)
        try:
            connection.request("POST", "/recall", '{"query": "ready?"}')
            # There is no key in it.
            return connection.getresponse().status == 401
        except OSError:
            return False
        finally:
            connection.close()

    def stop(self) -> None:
        if self._server is not None:
            self._server.terminate()
            self._server.wait(STOP_TIMEOUT_S)
            self._server = None
        super().stop()
