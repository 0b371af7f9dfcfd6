"""Callers that each make one call after the other: what bench/compare/load.ts is in Node."""

import threading
import time
from collections.abc import Callable


def run(call: Callable[[int], object], *, count: int, callers: int, seconds_max: float) -> dict:
    """Calls 0, 1, 2… without a gap, until `count` are made or the time is up; a failure is raised."""
    lock = threading.Lock()
    latencies: list[float] = []
    failures: list[Exception] = []
    taken = 0
    start = time.perf_counter()

    def take() -> int | None:
        nonlocal taken
        with lock:
            if failures or taken == count or time.perf_counter() - start > seconds_max:
                return None
            taken += 1
            return taken - 1

    def caller() -> None:
        while (number := take()) is not None:
            began = time.perf_counter()
            try:
                call(number)
            except Exception as error:
                failures.append(error)
            latencies.append((time.perf_counter() - began) * 1000)

    threads = [threading.Thread(target=caller) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return {"latenciesMs": latencies, "seconds": time.perf_counter() - start}
