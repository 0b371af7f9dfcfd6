"""What schemathesis must not send as valid, or as wrong, where no schema can say so."""

import uuid

import schemathesis


@schemathesis.hook
def filter_body(context, body):
    return comes_back(body.get("metadata") if isinstance(body, dict) else None)


@schemathesis.hook
def filter_query(context, query):
    """An empty list or object leaves its parameter out of the URL, which makes a wrong query a right one."""
    return not any(value in ([], {}) for value in (query or {}).values())


@schemathesis.hook
def before_call(context, case, kwargs):
    """Each valid Idempotency-Key once only: the memory that it stored may be deleted when it comes again."""
    headers = case.headers or {}
    for name, value in headers.items():
        if name.lower() == "idempotency-key" and isinstance(value, str) and 0 < len(value.strip()) <= 255:
            headers[name] = str(uuid.uuid4())


def comes_back(value):
    """Whether every number comes back digit by digit: see "Numbers" in docs/api.md."""
    if isinstance(value, dict):
        return all(comes_back(inner) for inner in value.values())
    if isinstance(value, list):
        return all(comes_back(inner) for inner in value)
    if isinstance(value, float):
        return str(value) != "-0.0"
    return not isinstance(value, int) or abs(value) <= 2**53
