"""A stand-in for a language model, so that the example needs no network."""

from __future__ import annotations

from collections.abc import Sequence


def reply(said: str, memories: Sequence[str]) -> tuple[str, str | None]:
    """Returns what the model says, and what it wants to have remembered.

    A real one gets the memories in its context, beside what the user said, and decides what is worth
    remembering.
    """
    if not said.endswith("?"):
        return "I will remember that.", said
    return (f"You told me: {memories[0]}" if memories else "I do not know that yet."), None
