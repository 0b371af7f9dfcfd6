"""LangGraph's store over recalld: `pip install "recalld[langgraph]"`."""

from ._store import RecalldStore

__all__ = ["RecalldStore"]
