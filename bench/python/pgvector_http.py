"""The least HTTP server before pgvector that does recalld's duties: it checks a key, counts a call, and embeds.

uvicorn runs it (uvloop, httptools) without a framework. Its settings are in the environment: MODEL_FOLDER,
POSTGRES (folder of the socket) and WORKERS.
"""

import asyncio
import hashlib
import os
from concurrent.futures import ThreadPoolExecutor

import asyncpg
import orjson
from pgvector.asyncpg import register_vector

from model import Model

CONNECTIONS = max(1, 16 // int(os.environ["WORKERS"]))
CORES = os.cpu_count() or 1
TOP_K = 5
CHARGE = "UPDATE keys SET used = used + 1 WHERE hash = $1 AND used < allowed RETURNING account"
STORE = "INSERT INTO memories (id, text, embedding) VALUES (nextval('memory_ids'), $1, $2) RETURNING id"
RECALL = "SELECT id, text, 1 - (embedding <=> $1) FROM memories ORDER BY embedding <=> $1 LIMIT $2"

model = Model(os.environ["MODEL_FOLDER"])
threads = ThreadPoolExecutor(CORES)


class Refused(Exception):
    """The key is unknown, or its calls are used up."""


async def open_pools() -> None:
    global memories, charges
    # Connections keep nothing between calls, and to reset them would be one more question to the database.
    options = {"host": os.environ["POSTGRES"], "user": "postgres", "database": "postgres", "reset": no_reset}
    size = {"min_size": CONNECTIONS, "max_size": CONNECTIONS}
    memories = await asyncpg.create_pool(**options, **size, init=register_vector)
    # A call counted does not wait for the disk: only a loss of power may give some of them back.
    charges = await asyncpg.create_pool(**options, **size, server_settings={"synchronous_commit": "off"})


async def no_reset(_: asyncpg.Connection) -> None:
    pass


async def charged(authorization: bytes) -> None:
    """Checks the key and counts the call, in one atomic statement."""
    if await charges.fetchval(CHARGE, hashlib.sha256(authorization).digest()) is None:
        raise Refused


async def embedded(authorization: bytes, text: str):
    """The text's vector; the call is counted meanwhile."""
    charge = asyncio.ensure_future(charged(authorization))
    vector = await asyncio.get_running_loop().run_in_executor(threads, model.embed, text)
    await charge
    return vector


async def store(authorization: bytes, body: dict) -> dict:
    text = body["text"]
    vector = await embedded(authorization, text)
    return {"id": await memories.fetchval(STORE, text, vector)}


async def recall(authorization: bytes, body: dict) -> dict:
    vector = await embedded(authorization, body["query"])
    rows = await memories.fetch(RECALL, vector, body.get("top_k", TOP_K))
    return {"results": [{"id": id, "text": text, "score": score} for id, text, score in rows]}


CALLS = {"/store": store, "/recall": recall}


async def app(scope, receive, send) -> None:
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
        return
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    authorization = dict(scope["headers"]).get(b"authorization", b"")
    try:
        status, answer = 200, await CALLS[scope["path"]](authorization, orjson.loads(body))
    except Refused:
        status, answer = 401, {"error": "the key is unknown, or its calls are used up"}
    content = orjson.dumps(answer)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def lifespan(receive, send) -> None:
    await receive()
    await open_pools()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await memories.close()
    await charges.close()
    await send({"type": "lifespan.shutdown.complete"})
