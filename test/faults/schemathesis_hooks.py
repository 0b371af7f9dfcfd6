"""What schemathesis must not send as valid: rules about metadata that no schema can say."""

import schemathesis


@schemathesis.hook
def filter_body(context, body):
    return comes_back(body.get("metadata") if isinstance(body, dict) else None)


def comes_back(value):
    """Whether every number comes back digit by digit: see "Numbers" in docs/api.md."""
    if isinstance(value, dict):
        return all(comes_back(inner) for inner in value.values())
    if isinstance(value, list):
        return all(comes_back(inner) for inner in value)
    if isinstance(value, float):
        return str(value) != "-0.0"
    return not isinstance(value, int) or abs(value) <= 2**53
