from dataclasses import dataclass


@dataclass
class Document:
    id: str
    content: str
    user_id: "str | None" = None
    messages: "list[dict] | None" = None
    timestamp: "str | None" = None
    context: "str | None" = None
