"""Runs one system for bench/compare: a JSON command a line on stdin, its answer a line on stdout."""

import json
import os
import sys
import time
from importlib import import_module

import numpy as np

import load
from model import Model

# Whatever libraries print must not come between the answers.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

options = json.loads(sys.argv[1])
model = Model(options["modelFolder"])
name = options["system"]
system = import_module(f"{name.replace('-', '_')}_system").System(model, options["dataDir"]) if name != "embedder" else None


def start(_: dict) -> dict:
    pids = system.start()
    # Where to send calls, if the system is called over HTTP and not by this process.
    address = system.address() if hasattr(system, "address") else {}
    return {"pids": pids, "version": system.version(), **address}


def fill(command: dict) -> dict:
    """Texts whose vectors are known already, by the system's own way for many."""
    texts, begin = command["texts"], command["from"]
    rows = np.memmap(command["vectors"], dtype=np.float32, mode="r").reshape(-1, command["dimensions"])
    system.fill(begin, texts, np.array(rows[begin : begin + len(texts)]))
    return {}


def store(command: dict) -> dict:
    texts, begin = command["texts"], command["from"]
    return run(command, lambda i: system.store(begin + i, texts[i]))


def store_many(command: dict) -> dict:
    """Texts that are embedded and stored by batches."""
    texts, begin, size = command["texts"], command["from"], command["size"]
    batches = [texts[at : at + size] for at in range(0, len(texts), size)]
    return load.run(
        lambda i: system.store_many(begin + i * size, batches[i]),
        count=len(batches),
        callers=command["callers"],
        seconds_max=command["secondsMax"],
    )


def recall(command: dict) -> dict:
    return run(command, lambda i: system.recall(command["texts"][i]))


def embed(command: dict) -> dict:
    return run(command, lambda i: model.embed(command["texts"][i]))


def run(command: dict, call) -> dict:
    return load.run(
        call, count=len(command["texts"]), callers=command["callers"], seconds_max=command["secondsMax"]
    )


def found(command: dict) -> dict:
    return {"found": [system.recall(text, command["topK"]) for text in command["texts"]]}


def vectors(command: dict) -> dict:
    return {"vectors": [model.embed(text).tolist() for text in command["texts"]]}


def restart(command: dict) -> dict:
    system.stop()
    began = time.perf_counter()
    pids = system.start()
    system.recall(command["text"])
    return {"seconds": time.perf_counter() - began, "pids": pids}


def stop(_: dict) -> dict:
    system.stop()
    return {}


commands = {
    one.__name__: one for one in (start, fill, store, store_many, recall, embed, found, vectors, restart, stop)
}
try:
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = commands[command["op"]](command)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers)
finally:
    # Also when the bench was interrupted in the middle of a command: servers would outlive it.
    if system:
        system.stop()
