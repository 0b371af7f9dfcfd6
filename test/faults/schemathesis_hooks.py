"""What schemathesis must not send as valid, or as wrong, where no schema can say so."""

import uuid

import schemathesis


@schemathesis.hook
def filter_body(context, body):
    if not isinstance(body, dict):
        return True
    memories = body.get("memories")
    parts = [body, *(memories if isinstance(memories, list) else [])]
    return all(comes_back(part.get("metadata")) and agrees(part) for part in parts if isinstance(part, dict))


@schemathesis.hook
def filter_query(context, query):
    """An empty list or object leaves its parameter out of the URL, which makes a wrong query a right one."""
    query = query or {}
    return not any(value in ([], {}) for value in query.values()) and is_filter(query.get("filter"))


@schemathesis.hook
def before_call(context, case, kwargs):
    """Each valid Idempotency-Key once only: the memory that it stored may be deleted when it comes again."""
    headers = case.headers or {}
    for name, value in headers.items():
        if name.lower() == "idempotency-key" and isinstance(value, str) and 0 < len(value.strip()) <= 255:
            headers[name] = str(uuid.uuid4())


def agrees(body):
    """Whether no field rules out another one, and a filter is one: see docs/api.md and docs/filters.md."""
    if "ttl" in body and "expire_time" in body or "ids" in body and "filter" in body:
        return False
    if body.get("min_fit") is not None and body.get("mode") != "HYBRID":
        return False
    return is_filter(body.get("filter"))


def is_filter(value):
    """Whether a filter has fields alone, each equal to a value: most objects are no filters, and are refused."""
    if not isinstance(value, dict):
        return True
    return all(not key.startswith("$") and not isinstance(each, (dict, list)) for key, each in value.items())


def comes_back(value):
    """Whether every number comes back digit by digit: see "Numbers" in docs/api.md."""
    if isinstance(value, dict):
        return all(comes_back(inner) for inner in value.values())
    if isinstance(value, list):
        return all(comes_back(inner) for inner in value)
    if isinstance(value, float):
        return str(value) != "-0.0"
    return not isinstance(value, int) or abs(value) <= 2**53
