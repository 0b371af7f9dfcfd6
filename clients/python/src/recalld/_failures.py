"""Errors of connections, told as the client's own."""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx

from ._errors import RecalldError

# What httpx raises when a request or a stream fails.
FAILURES = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError)
# Longest answer that is read as a whole: far above 256 memories of 80 KiB, all escaped.
ANSWER_BYTES_MAX = 268_435_456


def failure(error: Exception, url: str, seconds: float) -> RecalldError:
    """Makes an error of anything that a connection raised."""
    if isinstance(error, (httpx.TimeoutException, TimeoutError)):
        told = RecalldError("deadline_exceeded", f"there was no answer within {seconds:g} s")
    else:
        parts = urlsplit(url)
        reason = str(error) or type(error).__name__
        told = RecalldError(
            "unavailable", f"{parts.scheme}://{parts.netloc} cannot be reached: {reason}"
        )
    told.__cause__ = error
    return told


def check_length(length: int) -> None:
    """Refuses an answer that is no server's of recalld."""
    if length > ANSWER_BYTES_MAX:
        raise RecalldError("unknown", f"the answer is longer than {ANSWER_BYTES_MAX} bytes")
