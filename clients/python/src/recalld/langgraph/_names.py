"""What recalld names the paths and keys of LangGraph. The TypeScript client names them alike."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from .._errors import RecalldError

# Characters of a label that a namespace's name cannot have where they stand: the separator and the escape
# themselves, control characters, and white space at either end.
_UNFIT = re.compile(r"[%/\x00-\x1f\x7f-\x9f]|\A[\s\ufeff]|[\s\ufeff]\Z")
# A key may have control characters, an external id may not.
_UNFIT_IN_KEY = re.compile(r"[%\x00-\x1f\x7f-\x9f]")

Path = tuple[str, ...]


def name_of(root: str, path: Path) -> str:
    """Names the namespace of a path: `("users", "42")` below the root `app` is `app/users/42`."""
    labels = [_UNFIT.sub(_percent, label) for label in path]
    return "/".join(labels if root == "" else [root, *labels])


def path_of(root: str, name: str) -> Path | None:
    """Returns the path that a namespace's name stands for; None if this store does not name so."""
    start = "" if root == "" else f"{root}/"
    path = tuple(_plain(label) for label in name[len(start) :].split("/"))
    is_own = name.startswith(start) and "" not in path
    return path if is_own and name_of(root, path) == name else None


def id_of(key: str) -> str:
    """Makes the external id of a key."""
    if key == "":
        raise RecalldError("invalid_argument", "key is empty", field="key")
    return _UNFIT_IN_KEY.sub(_percent, key)


def key_of(external_id: str) -> str | None:
    """Returns the key of an external id; None if this store did not make it."""
    key = _plain(external_id)
    return key if key != "" and id_of(key) == external_id else None


def _plain(text: str) -> str:
    # What is not UTF-8 becomes a character that does not lead back.
    return unquote(text, errors="replace")


def _percent(found: re.Match[str]) -> str:
    return quote(found.group(), safe="")
