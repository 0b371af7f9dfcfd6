"""The one error that the client raises."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from typing import Any

# Codes after which the same call may succeed.
PASSING = frozenset({"unavailable", "deadline_exceeded", "resource_exhausted"})
# Reasons for which waiting does not help.
LASTING = frozenset({"QUOTA_EXHAUSTED", "BODY_TOO_LARGE"})


class RecalldError(Exception):
    """Any failure of a call. Programs branch on `code`, and on `reason` where there is one."""

    code: str
    """One of `ErrorCode`. It is a string, because a later server may know others."""

    message: str
    """What to fix, in plain words."""

    reason: str | None
    """Constant that programs can branch on: one of `Reason`, or one that only the server knows."""

    field: str | None
    """Field of the request that is wrong: `top_k`, `memories[3].text`."""

    metadata: Mapping[str, str]
    """Values that belong to the reason, such as `id`."""

    retry_after: float | None
    """Seconds to wait before another attempt, as the server says."""

    request_id: str | None
    """Id of the call, also in the server's log."""

    status: int | None
    """HTTP status of the answer; None if there was none."""

    attempts: int
    """Attempts that were made, this one included."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        reason: str | None = None,
        field: str | None = None,
        metadata: Mapping[str, str] | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason
        self.field = field
        self.metadata = dict(metadata or {})
        self.retry_after = retry_after
        self.request_id = request_id
        self.status = status
        self.attempts = 1

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are otherwise made again from `args` alone, which lacks the code. Subclasses may take other arguments.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined] # pyright: ignore

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.code in PASSING and self.reason not in LASTING


def invalid(field: str, message: str) -> RecalldError:
    """Makes the error of an argument that cannot be meant."""
    return RecalldError("invalid_argument", message, field=field)
