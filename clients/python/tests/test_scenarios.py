"""The cases that every client must handle alike, over real connections."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterable, Callable, Iterable
from contextlib import aclosing
from dataclasses import asdict, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from recalld import AsyncRecalld, Recalld, RecalldError

Scenario = dict[str, Any]

SCENARIOS: list[Scenario] = json.loads((Path(__file__).parents[2] / "scenarios.json").read_text("utf-8"))
Outcome = tuple[list[Any], "RecalldError | None"]


def given(value: Any) -> Any:
    """Reads a request; times are written as `{"$time": …}`."""
    if isinstance(value, dict) and "$time" in value:
        return datetime.fromisoformat(value["$time"].replace("Z", "+00:00"))
    return {name: given(each) for name, each in value.items()} if isinstance(value, dict) else value


def options_of(scenario: Scenario) -> dict[str, Any]:
    own = {"options": scenario.get("options", {})}
    return own | {name: scenario[name] for name in ("give_up_after",) if name in scenario}


def sync_outcome(base_url: str, pauses: list[float], scenario: Scenario) -> Outcome:
    results: list[Any] = []
    take = scenario.get("take")
    # Reading the authorities' certificates takes longer than most scenarios.
    http = httpx.Client(verify=False)
    with http, Recalld(api_key="rcl_x", base_url=base_url, sleep=pauses.append, http_client=http) as recalld:
        try:
            answer = getattr(recalld, scenario["call"])(**given(scenario["request"]), **options_of(scenario))
            if not isinstance(answer, Iterable):
                return [answer], None
            for item in answer:
                results.append(item)
                if len(results) == take:
                    break
        except RecalldError as error:
            return results, error
    return results, None


def async_outcome(base_url: str, pauses: list[float], scenario: Scenario) -> Outcome:
    return anyio.run(_async_outcome, base_url, pauses, scenario)


async def _async_outcome(base_url: str, pauses: list[float], scenario: Scenario) -> Outcome:
    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    results: list[Any] = []
    take = scenario.get("take")
    http = httpx.AsyncClient(verify=False)
    recalld = AsyncRecalld(api_key="rcl_x", base_url=base_url, sleep=sleep, http_client=http)
    async with http, recalld:
        try:
            answer = getattr(recalld, scenario["call"])(**given(scenario["request"]), **options_of(scenario))
            if not isinstance(answer, AsyncIterable):
                return [await answer], None
            async with aclosing(aiter(answer)) as items:  # type: ignore[type-var]
                async for item in items:
                    results.append(item)
                    if len(results) == take:
                        break
        except RecalldError as error:
            return results, error
    return results, None


def plain(value: Any) -> Any:
    """Turns answers into what JSON has."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(each) for name, each in asdict(value).items() if each is not None}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return value


def assert_matches(actual: Any, expected: Any, at: str = "") -> None:
    """Fails unless everything that is expected is there."""
    if isinstance(expected, dict):
        assert isinstance(actual, dict), f"{at}: {actual!r}"
        for name, each in expected.items():
            assert name in actual, f"{at}.{name} is missing: {actual!r}"
            assert_matches(actual[name], each, f"{at}.{name}")
    elif isinstance(expected, list):
        assert len(actual) == len(expected), f"{at}: {actual!r}"
        for i, each in enumerate(expected):
            assert_matches(actual[i], each, f"{at}[{i}]")
    else:
        assert actual == expected, at


def assert_sent(run: str, scenario: Scenario) -> None:
    received = httpx.get(f"{os.environ['SCRIPTED_URL']}/requests/{run}").json()
    if "attempts" in scenario:
        assert len(received) == scenario["attempts"]
    if any(each["path"].endswith("/Store") for each in received):
        for name in ("idempotency-key", "x-request-id"):
            assert len({each["headers"][name] for each in received}) == 1
    for one, expected in zip(received, scenario.get("sent", []), strict=False):
        for name in ("method", "path"):
            assert one[name] == expected.get(name, one[name])
        if "body" in expected:
            body = {name: value for name, value in json.loads(one["body"]).items() if value is not None}
            assert body == expected["body"]
        assert_matches(one["headers"], expected.get("headers", {}))
        for name, pattern in expected.get("matching", {}).items():
            assert re.search(pattern, one["headers"][name])
        assert not set(expected.get("absent", [])) & set(one["headers"])


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("number", range(len(SCENARIOS)), ids=[each["name"] for each in SCENARIOS])
def test_scenario(number: int, way: str) -> None:
    outcome: Callable[[str, list[float], Scenario], Outcome]
    outcome = sync_outcome if way == "sync" else async_outcome
    scenario = SCENARIOS[number]
    run = f"{way}-{number}"
    base_url = os.environ["CLOSED_URL"] if scenario.get("refused") else f"{os.environ['SCRIPTED_URL']}/{run}"
    pauses: list[float] = []
    results, error = outcome(base_url, pauses, scenario)

    if "error" in scenario:
        assert error is not None
        assert_matches(vars(error), scenario["error"])
    else:
        assert error is None
    if "result" in scenario:
        assert_matches(plain(results), [scenario["result"]])
    if "results" in scenario:
        assert_matches(plain(results), scenario["results"])
    for waited, (least, most) in zip(pauses, scenario.get("pauses", []), strict=False):
        assert least <= waited * 1000 <= most
    assert len(pauses) >= len(scenario.get("pauses", []))
    assert_sent(run, scenario)
    if "then" in scenario:
        results, error = outcome(base_url, [], scenario["then"])
        assert error is None
        assert_matches(plain(results), [scenario["then"]["result"]])
