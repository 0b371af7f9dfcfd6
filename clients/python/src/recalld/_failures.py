"""Errors of connections, told as the client's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx

from ._errors import RecalldError

# What httpx raises when a request or a stream fails.
FAILURES = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError)
# Ids that the server keeps; to a request with another one it gives one of its own.
SERVER_KEEPS = re.compile(r"(?!.*rc[ls]_)[A-Za-z0-9._:-]{1,128}")
# Longest answer that is read as a whole: far above 256 memories of 80 KiB, all escaped.
ANSWER_BYTES_MAX = 268_435_456


def failure(error: Exception, url: str, seconds: float) -> RecalldError:
    """Makes an error of anything that a connection raised."""
    if isinstance(error, (httpx.TimeoutException, TimeoutError)):
        told = RecalldError("deadline_exceeded", f"there was no answer within {seconds:g} s")
    elif isinstance(error, httpx.InvalidURL):
        told = RecalldError("invalid_argument", f"the call's address cannot be used: {error}")
    else:
        parts = urlsplit(url)
        reason = str(error) or type(error).__name__
        told = RecalldError(
            "unavailable", f"{parts.scheme}://{parts.netloc} cannot be reached: {reason}"
        )
    told.__cause__ = error
    return told


def check_request_id(sent: Mapping[str, str], response: httpx.Response) -> None:
    """Refuses the answer to another request: the connection is out of step, or another process reads from it too."""
    sent_id, answered_ids = sent["x-request-id"], response.headers.get_list("x-request-id")
    if not answered_ids or sent_id in answered_ids or not SERVER_KEEPS.fullmatch(sent_id):
        return
    # The server had not read the id of a request that it could not read.
    if response.status_code in (400, 408, 431) and response.headers.get("connection", "").lower() == "close":
        return
    raise RecalldError("unavailable", f"the answer is to another request ({answered_ids[0]}): the connection is broken")


def check_length(length: int) -> None:
    """Refuses an answer that is no server's of recalld."""
    if length > ANSWER_BYTES_MAX:
        raise RecalldError("unknown", f"the answer is longer than {ANSWER_BYTES_MAX} bytes")
