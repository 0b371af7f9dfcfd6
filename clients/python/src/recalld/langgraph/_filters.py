"""Filters of LangGraph, in the language of recalld."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from .._contract import Metadata


def filters_of(wanted: Mapping[str, Any] | None) -> list[Metadata]:
    """Turns a filter of LangGraph's into filters that must all match.

    A key is one key of the value, whatever characters it has, and a dict without operators is looked into.
    A key with a dollar sign, such as `$or` or `$created_at`, is recalld's own and stays as it is.
    """
    filters: list[Metadata] = []
    for key, value in (wanted or {}).items():
        filters += [{key: value}] if key.startswith("$") else _conditions(_escaped(key), value)
    return filters


def _conditions(path: str, wanted: Any) -> list[Metadata]:
    if wanted is None:
        return [_is_none(path)]
    if not isinstance(wanted, Mapping):
        return [{path: wanted}]
    members = cast(Mapping[str, Any], wanted)
    if not members:
        return [{path: {"$exists": True}}]
    filters: list[Metadata] = []
    for key, value in members.items():
        inner = _operator(path, key, value) if key.startswith("$") else _conditions(f"{path}.{_escaped(key)}", value)
        filters += inner
    return filters


def _operator(path: str, operator: str, operand: Any) -> list[Metadata]:
    if operand is None and operator == "$eq":
        return [_is_none(path)]
    if operand is None and operator == "$ne":
        return [{"$not": _is_none(path)}]
    return [{path: {operator: operand}}]


def _is_none(path: str) -> Metadata:
    # What is missing is None.
    return {"$or": [{path: None}, {path: {"$exists": False}}]}


def _escaped(key: str) -> str:
    return re.sub(r"[.\\]", r"\\\g<0>", key)
