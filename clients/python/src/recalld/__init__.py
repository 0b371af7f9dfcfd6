"""Client of recalld, a semantic memory service: store short texts, recall them by meaning."""

from . import _contract
from ._async import AsyncExport, AsyncRecalld
from ._contract import *
from ._errors import RecalldError
from ._export import ExportedMemory
from ._options import CallOptions
from ._pages import AsyncPages, Pages
from ._sync import Export, Recalld
from ._watch import Deleted, Dropped, Heartbeat, Stored, WatchEvent

__all__ = [
    "AsyncExport",
    "AsyncPages",
    "AsyncRecalld",
    "CallOptions",
    "Deleted",
    "Dropped",
    "Export",
    "ExportedMemory",
    "Heartbeat",
    "Pages",
    "Recalld",
    "RecalldError",
    "Stored",
    "WatchEvent",
]
__all__ += _contract.__all__
