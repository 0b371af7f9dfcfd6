"""Types of the contract. Generated from proto/ by scripts/generate-client.ts: `npm run generate`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, Union

# Pydantic can only read these older versions' types from typing_extensions, and an alias of itself by its name.
if sys.version_info >= (3, 12):
    from typing import NotRequired, TypeAliasType, TypedDict
else:
    from typing_extensions import NotRequired, TypeAliasType, TypedDict

if TYPE_CHECKING:
    Json = Union[str, int, float, bool, None, Sequence["Json"], Mapping[str, "Json"]]
else:
    Json = TypeAliasType("Json", "Union[str, int, float, bool, None, Sequence[Json], Mapping[str, Json]]")
"""Any value that JSON has."""

Metadata = Mapping[str, Json]
"""Anything that is handed back with a memory."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Fields that every answer has beside its own."""

    request_id: str = ""
    """Id of the call, also in the server's log."""

    replayed: bool = False
    """Whether an earlier attempt with the same idempotency key had done it already."""


OnConflict = Literal["REFUSE", "REPLACE", "KEEP"]
"""What a store does if a memory has its external id.

- `REFUSE`: The store fails with `already_exists`, which names the memory.
- `REPLACE`: The memory keeps its id and gets the new text, metadata, expiry and event time.
- `KEEP`: The memory stays as it is and is the answer, which costs nothing.
"""


OnSecret = Literal["STORE", "REDACT", "REFUSE"]
"""What a call does if its text or metadata has what looks like a secret.

- `STORE`: It stores them as they are, and does not look for secrets.
- `REDACT`: It stores `[REDACTED]` in the place of each secret; the answer tells kind and place of each. A key of the metadata cannot be redacted: such a call fails as with REFUSE.
- `REFUSE`: It fails with `invalid_argument` and the reason SECRET_FOUND, whose details tell kind and place of each secret, and costs nothing.
"""


OnSimilar = Literal["STORE", "KEEP", "SUPERSEDE"]
"""What a store does if a memory that says the same is there already.

- `STORE`: It stores the memory beside it.
- `KEEP`: The most similar memory stays as it is and is the answer. It costs a call.
- `SUPERSEDE`: It stores the memory, which supersedes the most similar one.
"""


Outcome = Literal["CREATED", "REPLACED", "KEPT"]
"""What a store did.

- `CREATED`: It made a new memory.
- `REPLACED`: It made a new version of the memory with the external id.
- `KEPT`: The memory with the external id stays as it is, or the similar one of `on_similar`.
"""


Mode = Literal["COSINE", "HYBRID"]
"""What results are ordered by.

- `COSINE`: The score alone: meaning.
- `HYBRID`: Meaning and words together. The words count more, the less the best memory stands out by its meaning. Results are not in the order of their scores.
"""


Order = Literal["NEWEST_FIRST", "OLDEST_FIRST", "EVENT_TIME_NEWEST_FIRST", "EVENT_TIME_OLDEST_FIRST"]
"""The order of a list.

- `NEWEST_FIRST`: The newest first.
- `OLDEST_FIRST`: The oldest first.
- `EVENT_TIME_NEWEST_FIRST`: What happened last first, by `$event_time`; of equal times, what was stored last.
- `EVENT_TIME_OLDEST_FIRST`: What happened first first; of equal times, what was stored first.
"""


class StoreRequest(TypedDict):
    text: str
    """What to remember: not blank, at most 65,536 bytes of UTF-8. A text that is longer than the model reads at once is read in overlapping windows, and found by the nearest of them."""

    namespace: str
    """Where: 1 to 256 bytes of UTF-8 without control characters, and without a space at either end. Names are compared byte by byte and belong to the account: two accounts may use the same name and never see each other."""

    metadata: NotRequired[Metadata | None]
    """Anything to hand back with the memory, and what filters look at: at most 16,384 bytes as JSON, 16 levels deep, finite numbers. Numbers are doubles: an integer that would come back with other digits, and -0, are refused."""

    external_id: NotRequired[str | None]
    """Your own id for the memory: up to 256 bytes of UTF-8 without control characters, unique among the memories of its namespace. Empty means none."""

    on_conflict: NotRequired[OnConflict | None]
    """What to do if a memory has the external id already. Left out, it is REFUSE."""

    expire_time: NotRequired[str | datetime | None]
    """A time in the future, up to the end of the year 9999; milliseconds count."""

    ttl: NotRequired[str | timedelta | None]
    """How long from now; in JSON a string like "3600s"."""

    supersedes: NotRequired[Sequence[str] | None]
    """Ids of up to 16 memories of the namespace that this one corrects. They are hidden from Recall and ListMemories unless `include_superseded` is set, and GetMemory says what superseded them. That cannot be undone: deleting this memory does not bring them back."""

    similar_above: NotRequired[float | None]
    """Lists up to 3 memories that were there already and have at least this score for the text, from 0 to 1. Costs no second call."""

    event_time: NotRequired[str | datetime | None]
    """When what the text tells of happened, if that is not now: a time from the year 1 to the year 9999; milliseconds count. Filters (`$event_time`), lists and `after` and `before` of a recall compare it. Without one, a memory has the time when it was stored."""

    on_secret: NotRequired[OnSecret | None]
    """What to do if the text or a string of the metadata has what looks like a secret, such as a service's key, a private key, a JWT or a card number. Left out, it is what the server is set to (`ON_SECRET`)."""

    on_similar: NotRequired[OnSimilar | None]
    """What to do if a memory is there with at least the score `similar_above`, which must be set then; not together with `external_id`. Left out, it is STORE."""


@dataclass(frozen=True, kw_only=True)
class StoreResponse(Answered):
    id: str = ""
    """The memory's id: `mem_` and 26 characters (a TypeID, sortable by time)."""

    namespace: str = ""
    """The namespace, as it was given."""

    tokens: int = 0
    """The model's tokens of the whole text, special tokens not counted."""

    created_at: str = ""
    """When it was stored, by the server's clock, in milliseconds' precision. A memory that was replaced or kept has the time when it was stored first."""

    outcome: Outcome | None = None
    """What happened. This, `etag` and `similar` are absent unless the request had any of `external_id`, `expire_time`, `ttl`, `supersedes` or `similar_above`."""

    etag: str | None = None
    """Names this version of the memory; UpdateMemory takes it."""

    similar: Similar | None = None
    """The memories that are most like the text, if `similar_above` was set."""

    unread_share: float | None = None
    """The share of the text's letters and emoji in scripts that the model hardly knows, above 0.5 and up to 1; absent if it is less. The model may take any two such texts for alike: recall them by their words (`HYBRID`), or choose a model that reads their language."""

    redacted: Redacted | None = None
    """What was redacted, because `on_secret` or the server asks for it. Absent if nothing was."""


@dataclass(frozen=True, kw_only=True)
class Similar:
    """Memories that are like a text that was stored."""

    memories: tuple[SimilarMemory, ...] = ()
    """At most 3, the most similar first."""


@dataclass(frozen=True, kw_only=True)
class SimilarMemory:
    """A memory that was there before a text like it was stored."""

    id: str = ""
    """The memory's id."""

    text: str = ""
    """The text, exactly as it was stored."""

    score: float = 0.0
    """The cosine of the two, from 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class Redacted:
    """What was redacted in a text and its metadata."""

    secrets: tuple[FoundSecret, ...] = ()
    """The first 8."""

    count: int = 0
    """How many they are in all."""


@dataclass(frozen=True, kw_only=True)
class FoundSecret:
    """Kind and place of what looks like a secret."""

    kind: str = ""
    """What it looks like: `github_token`, `card_number`."""

    field: str = ""
    """Where it stands: `text`, or a path such as `metadata.notes[0].login`. A path of more than 100 characters is cut."""

    start: int = 0
    """Its first code point in that string, as it was sent."""

    end: int = 0
    """Behind its last code point."""


class StoreBatchRequest(TypedDict):
    namespace: str
    """Where, as for Store; the same for all."""

    memories: Sequence[StoreItem]
    """What to remember: 1 to 256 memories. The body of the call may have 8,388,608 bytes."""


class StoreItem(TypedDict):
    """One memory of a batch."""

    text: str
    """What to remember, as for Store."""

    metadata: NotRequired[Metadata | None]
    """Anything to hand back with the memory, as for Store."""

    external_id: NotRequired[str | None]
    """Your own id for the memory, as for Store."""

    on_conflict: NotRequired[OnConflict | None]
    """What to do if a memory has the external id already, as for Store; also one that stands before this one in the batch."""

    expire_time: NotRequired[str | datetime | None]
    """A time in the future."""

    ttl: NotRequired[str | timedelta | None]
    """How long from now."""

    supersedes: NotRequired[Sequence[str] | None]
    """Ids of up to 16 memories of the namespace that this one corrects, as for Store."""

    event_time: NotRequired[str | datetime | None]
    """When what the text tells of happened, as for Store."""

    on_secret: NotRequired[OnSecret | None]
    """What to do if it has what looks like a secret, as for Store. With REFUSE the batch fails."""


@dataclass(frozen=True, kw_only=True)
class StoreBatchResponse(Answered):
    results: tuple[StoreBatchResult, ...] = ()
    """A result for each memory, in the order of the request."""

    namespace: str = ""
    """The namespace, as it was given."""


@dataclass(frozen=True, kw_only=True)
class StoreBatchResult:
    """What became of one memory of a batch."""

    stored: StoredItem | None = None
    """The memory was stored."""

    error: Problem | None = None
    """The memory was not stored, and costs nothing. After `unavailable` it may be stored all the same, as with Store."""


@dataclass(frozen=True, kw_only=True)
class StoredItem:
    """A memory that was stored."""

    id: str = ""
    """The memory's id."""

    tokens: int = 0
    """The model's tokens of the whole text, special tokens not counted."""

    created_at: str = ""
    """When it was stored, as for Store."""

    outcome: Outcome | None = None
    """What happened. This and the etag are absent unless the memory of the request had any of `external_id`, `expire_time`, `ttl` or `supersedes`."""

    etag: str | None = None
    """Names this version of the memory; UpdateMemory takes it."""

    unread_share: float | None = None
    """The share of the text that the model can hardly read, as for Store."""

    redacted: Redacted | None = None
    """What was redacted, as for Store."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why one part of a call failed while others did not."""

    code: str = ""
    """The error's name, as in errors in JSON: `unavailable`."""

    message: str = ""
    """What to fix, in plain words."""

    reason: str = ""
    """A constant that programs can branch on; empty if the error has none."""


class RecallRequest(TypedDict):
    query: NotRequired[str | None]
    """The question, in plain words: not blank, at most 65,536 bytes of UTF-8. A long one is read in windows, like a text. A recall has exactly one of `query`, `queries` and `like_id`."""

    namespace: str
    """The namespace to search."""

    top_k: NotRequired[int | None]
    """How many memories to return at most: 1 to 20, 5 when left out. A server may allow up to 200 (`TOP_K_MAX`)."""

    mode: NotRequired[Mode | None]
    """What the results are ordered by. Left out, it is what the server is set to (`RECALL_MODE`): by meaning alone, unless the operator says otherwise."""

    explain: NotRequired[bool | None]
    """Whether each result says why it stands where it does."""

    min_score: NotRequired[float | None]
    """The lowest score that a result may have, from 0 to 1. The others are left out, and the order of the rest stays as it is."""

    filter: NotRequired[Metadata | None]
    """Which memories may be found: a filter in the language that docs/filters.md describes, such as `{"source": "mail", "year": {"$gte": 2024}}`. All when left out or empty."""

    include_superseded: NotRequired[bool | None]
    """Whether memories that others superseded are results, too."""

    after: NotRequired[str | datetime | None]
    """Only memories of what happened after this time: `$event_time` is greater, which is when a memory was stored, unless it has an event time of its own."""

    before: NotRequired[str | datetime | None]
    """Only memories of what happened before this time: `$event_time` is less."""

    fields: NotRequired[str | Sequence[str] | None]
    """The fields of the results that are sent: `"id,score"`. All of them when left out; `id` in any case."""

    min_fit: NotRequired[float | None]
    """The lowest fit that a result may have, from 0 to 1.5; only with `HYBRID`. The fit is the score and half the share of the query's words, whatever else is stored. 0.4 leaves out much of what has nothing to do with the query."""

    recency: NotRequired[Recency | None]
    """Lets newer memories stand higher. It leaves none out, and `min_score` and `min_fit` do not count it. Left out, age does not matter."""

    max_tokens: NotRequired[int | None]
    """How many tokens the texts of the results may have together, as `tokens` of a memory counts them. The results end where the next text would pass it; there is at least one result, if any is found."""

    queries: NotRequired[Sequence[str] | None]
    """Up to 8 questions in place of `query`. The answer has the best results of all of them, each memory once. Each question costs one call."""

    like_id: NotRequired[str | None]
    """The id of a memory of `namespace`, in place of `query`: the results are those most like it, without itself. Its stored vectors are compared, so nothing is embedded; of a long text, 64 of its windows."""

    also_in: NotRequired[Sequence[str] | None]
    """Up to 7 other namespaces to search as well. The answer has the best results of all in one order, and each names its namespace. A query is embedded and paid once, whatever their number. The key must be allowed to read all of them. With `HYBRID`, words count as the statistics of each namespace say."""

    neighbors: NotRequired[Neighbors | None]
    """The memories that were created just before and after each result in its namespace are sent with it."""


class Recency(TypedDict):
    """How much the age of a memory counts: `weight * 2^(-age / half_life)` is added to what results are ordered by. The age is the time from `$event_time` to `reference_time`, and 0 for what happens later. In a namespace of up to about 20,000 vectors all memories are compared so, in a larger one the 200 that are nearest to the query, and with `HYBRID` the 200 whose words fit best."""

    half_life: str | timedelta
    """The time in which what is added falls to a half: more than 0. In JSON a string like "2592000s", which is 30 days."""

    weight: float
    """What is added for a memory of the age 0, from 0 to 0.5."""

    reference_time: NotRequired[str | datetime | None]
    """The time at which the age is 0, from the year 1 to the year 9999; now, if left out."""


class Neighbors(TypedDict):
    """Which memories are sent with each result of a recall, because they were created just before or after it: by `created_at`, and then by id. At least one of the two numbers is above 0. The filter of the recall does not count."""

    before: NotRequired[int | None]
    """How many that were created before it: 0 to 5."""

    after: NotRequired[int | None]
    """How many that were created after it: 0 to 5."""

    same: NotRequired[str | None]
    """A path in the metadata, as in a filter, such as `session`: memories with another value there are skipped. Empty means that none are."""


@dataclass(frozen=True, kw_only=True)
class RecallResponse(Answered):
    results: tuple[RecallResult, ...] = ()
    """Best first. Unless `min_score` or `min_fit` asks for it, none is dropped for a low score: there are fewer than `top_k` only when the namespace holds fewer, or fewer match the filter."""

    namespace: str = ""
    """The namespace, as it was given."""

    query_tokens: int = 0
    """The model's tokens of the whole query, special tokens not counted; of all `queries` together; 0 for `like_id`."""

    considered: int | None = None
    """How many memories were considered: all that CountMemories counts. Only in an answer that is empty because of `min_score`, `min_fit`, a filter, `after` or `before`, or because the namespace does not exist: then it is 0, so that a mistyped name is noticed. With `also_in`, it is the sum of all."""

    omitted: OmittedMemories | None = None
    """What `min_fit` has left out; only if the request asks for reasons (`explain`)."""

    shortened: bool | None = None
    """True if more was found than the answer has room for: because of `max_tokens`, or because texts and metadata have reached 1,638,400 bytes. Absent otherwise."""


@dataclass(frozen=True, kw_only=True)
class RecallResult:
    """One recalled memory. A field that the request's `fields` does not name is absent, and JSON then has `""` for `text` and 0 for `score`."""

    id: str = ""
    """The memory's id."""

    text: str = ""
    """The text, exactly as it was stored."""

    score: float = 0.0
    """The cosine of the stored vector and the query, from 0 (nothing in common) to 1 (the same). With the bundled model above 0.80 is a strong match; of other models GetAccount may tell it (`model.strong_score`). Of a long text it is that of the window nearest to the query."""

    metadata: Metadata | None = None
    """The metadata as it was stored; an empty object when there was none."""

    created_at: str | None = None
    """When it was stored."""

    match: Match | None = None
    """The part of the text that the score is of: all of it, unless the text is longer than the model reads at once."""

    words: float | None = None
    """The share of the query's words that the text has, from 0 to 1; rare words count more. Only with `HYBRID`."""

    explanation: Explanation | None = None
    """Why the result stands where it does; only if the request asks for it."""

    etag: str | None = None
    """Names this version of the memory. This and the fields below are absent unless the request has `min_score`, `min_fit`, `filter`, `after`, `before`, `include_superseded` or `fields`."""

    updated_at: str | None = None
    """When its text, metadata, expiry or event time was changed last."""

    external_id: str | None = None
    """Your own id for it, if it has one."""

    superseded_by: str | None = None
    """The id of the memory that superseded it, if one did."""

    expire_time: str | None = None
    """When it expires, if it does."""

    event_time: str | None = None
    """When what it tells of happened, if it was stored with an event time; in any recall."""

    before: NeighborMemories | None = None
    """The memories created just before it. Only with `neighbors`."""

    after: NeighborMemories | None = None
    """The memories created just after it. Only with `neighbors`."""

    namespace: str | None = None
    """Its namespace. Only with `also_in`."""

    query_index: int | None = None
    """Which of `queries` it fits best, counted from 0. Only with `queries`."""


@dataclass(frozen=True, kw_only=True)
class Match:
    """A part of a text, counted in Unicode code points: neither in bytes nor in UTF-16 units. In Python it is `text[start:end]`."""

    start: int = 0

    end: int = 0
    """Behind its last code point."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why a result stands where it does."""

    rank: float = 0.0
    """What results are ordered by, the highest first: the score, `weight` times the share of the query's words, and `recency`."""

    weight: float = 0.0
    """What the words counted for in this recall, from 0 to 1; 0 when results are ordered by meaning alone."""

    matched: tuple[str, ...] = ()
    """The words of the query that the text has, in lower case and in the order of the query."""

    fit: float | None = None
    """The score and half the share of the query's words, which `min_fit` is compared with. Only with `HYBRID`."""

    recency: float | None = None
    """What the memory's age adds to the rank. Only if the request has `recency`."""


@dataclass(frozen=True, kw_only=True)
class NeighborMemories:
    """Memories created just before or after a result."""

    memories: tuple[Memory, ...] = ()
    """The oldest first."""


@dataclass(frozen=True, kw_only=True)
class Memory:
    """One memory, without a score."""

    id: str = ""
    """The memory's id."""

    text: str = ""
    """The text, exactly as it was stored."""

    metadata: Metadata = field(default_factory=dict[str, Json])
    """The metadata as it was stored; an empty object when there was none."""

    tokens: int = 0
    """The model's tokens of the whole text, special tokens not counted."""

    created_at: str = ""
    """When it was stored."""

    etag: str = ""
    """Names this version of the memory: another version has another etag."""

    updated_at: str = ""
    """When its text, metadata, expiry or event time was changed last; when it was stored, if never."""

    external_id: str | None = None
    """Your own id for it, if it has one."""

    superseded_by: str | None = None
    """The id of the memory that superseded it, if one did."""

    expire_time: str | None = None
    """When it expires, if it does."""

    event_time: str | None = None
    """When what it tells of happened, if it was stored with an event time."""


@dataclass(frozen=True, kw_only=True)
class OmittedMemories:
    """Memories that `min_fit` has left out."""

    memories: tuple[OmittedMemory, ...] = ()
    """Those that were among the `top_k` best, best first."""


@dataclass(frozen=True, kw_only=True)
class OmittedMemory:
    """A memory that was left out because it fits the query too little."""

    id: str = ""
    """The memory's id."""

    score: float = 0.0
    """Its score, as of a result."""

    words: float = 0.0
    """Its share of the query's words, as of a result."""

    fit: float = 0.0
    """Less than the request's `min_fit`."""


class GetMemoryRequest(TypedDict):
    namespace: str
    """The namespace the memory is in."""

    id: str
    """The memory's id, `mem_…`."""


@dataclass(frozen=True, kw_only=True)
class GetMemoryResponse(Answered):
    memory: Memory

    namespace: str = ""
    """The namespace, as it was given."""


class GetMemoriesRequest(TypedDict):
    namespace: str
    """The namespace the memories are in."""

    ids: Sequence[str]
    """The memories' ids, `mem_…`: 1 to 256. An id that comes twice counts once."""


@dataclass(frozen=True, kw_only=True)
class GetMemoriesResponse(Answered):
    memories: tuple[Memory, ...] = ()
    """In the order of the request. The answer ends with the memory that brings texts and metadata to 1 MiB."""

    missing: tuple[str, ...] = ()
    """The ids that no memory of the namespace has."""

    namespace: str = ""
    """The namespace, as it was given."""

    remaining: tuple[str, ...] = ()
    """The ids that this answer had no room for: ask for them again. Empty unless the memories are long."""


class UpdateMemoryRequest(TypedDict):
    namespace: str
    """The namespace the memory is in."""

    id: str
    """The memory's id, `mem_…`."""

    text: NotRequired[str | None]
    """The new text, as for Store."""

    metadata: NotRequired[Metadata | None]
    """The new metadata, or the keys that `update_mask` names."""

    expire_time: NotRequired[str | datetime | None]
    """A time in the future, up to the end of the year 9999."""

    ttl: NotRequired[str | timedelta | None]
    """How long from now; in JSON a string like "3600s"."""

    update_mask: NotRequired[str | Sequence[str] | None]
    """What to update: `text`, `metadata`, `metadata.KEY` for one key, `expire_time` or `ttl`, and `event_time`. Left out, it is all that is given. Metadata, a key, the expiry and the event time are removed if they are named here and not given. In JSON it is one string, with commas between the paths."""

    etag: NotRequired[str | None]
    """The etag that the memory must have: if it was changed since, the update is `aborted`, and nothing is done. Empty means any."""

    event_time: NotRequired[str | datetime | None]
    """When what the text tells of happened, as for Store."""

    on_secret: NotRequired[OnSecret | None]
    """What to do if the new text or metadata has what looks like a secret, as for Store."""


@dataclass(frozen=True, kw_only=True)
class UpdateMemoryResponse(Answered):
    memory: Memory
    """The memory as it is now."""

    namespace: str = ""
    """The namespace, as it was given."""

    redacted: Redacted | None = None
    """What was redacted, as for Store."""


class DeleteMemoryRequest(TypedDict):
    namespace: str
    """The namespace the memory is in."""

    id: str
    """The memory's id, `mem_…`."""


@dataclass(frozen=True, kw_only=True)
class DeleteMemoryResponse(Answered):
    id: str = ""
    """The id of what was forgotten."""


class DeleteMemoriesRequest(TypedDict):
    namespace: str
    """The namespace the memories are in."""

    ids: NotRequired[Sequence[str] | None]
    """The memories' ids, `mem_…`: 1 to 256, or none if there is a filter. An id that comes twice counts once."""

    filter: NotRequired[Metadata | None]
    """Which memories to forget, in place of ids: a filter in the language that docs/filters.md describes. An empty one is refused."""

    dry_run: NotRequired[bool | None]
    """Forget nothing yet: the answer tells what the filter matches."""

    include_superseded: NotRequired[bool | None]
    """Whether the filter also finds memories that others superseded. It leaves them alone otherwise."""


@dataclass(frozen=True, kw_only=True)
class DeleteMemoriesResponse(Answered):
    deleted: int = 0
    """How many memories were there, and are forgotten now."""

    more: bool = False
    """Whether others are left, because time ran out or the filter matches more: send the same request again."""

    samples: tuple[Memory, ...] = ()
    """Some of the memories that the filter matches, the oldest, up to 20. Only of a dry run."""

    namespace: str = ""
    """The namespace, as it was given."""

    matched: int | None = None
    """How many memories the filter matches. Only of a dry run."""


class UpdateMemoriesRequest(TypedDict):
    namespace: str
    """The namespace the memories are in."""

    ids: NotRequired[Sequence[str] | None]
    """The memories' ids, `mem_…`: 1 to 256, or none if there is a filter. An id that comes twice counts once."""

    filter: NotRequired[Metadata | None]
    """Which memories to update, in place of ids: a filter in the language that docs/filters.md describes. An empty one is refused; memories that others superseded match none, because they cannot be updated."""

    metadata: NotRequired[Metadata | None]
    """What to merge into the metadata of each, as a JSON merge patch (RFC 7396): objects are merged at every depth, null removes a key, and anything else, arrays too, takes the place of what was there. It is applied after `remove`."""

    remove: NotRequired[Sequence[str] | None]
    """Paths to remove from the metadata of each, written as in filters: `a.b` is the key `b` of the object `a`. Up to 256. A path that leads nowhere is no error."""

    dry_run: NotRequired[bool | None]
    """Update nothing yet: the answer tells what the filter matches."""

    page_token: NotRequired[str | None]
    """`next_page_token` of the answer before; left out at first. The other fields stay as they were."""


@dataclass(frozen=True, kw_only=True)
class UpdateMemoriesResponse(Answered):
    updated: int = 0
    """How many memories were changed."""

    unchanged: int = 0
    """How many had this metadata already: those that a page before has changed may be met again."""

    failed: tuple[UpdateFailure, ...] = ()
    """The memories that stay as they were, and why: their metadata would be over a limit. Of ids also those that no memory has, and those that another memory superseded."""

    next_page_token: str = ""
    """Empty if nothing is left. Otherwise the filter matches more, time ran out, or the key's rate did: send the same request with it."""

    samples: tuple[Memory, ...] = ()
    """Some of the memories that the filter matches, the oldest, up to 20, with the metadata that they would get. Only of a dry run."""

    matched: int | None = None
    """How many memories the filter matches. Only of a dry run."""

    namespace: str = ""
    """The namespace, as it was given."""


@dataclass(frozen=True, kw_only=True)
class UpdateFailure:
    """A memory that was not updated."""

    id: str = ""
    """The memory's id."""

    error: Problem
    """Why."""


class DeleteNamespaceRequest(TypedDict):
    namespace: str
    """The namespace to drop."""

    force: NotRequired[bool | None]
    """Drop it although it holds memories."""


@dataclass(frozen=True, kw_only=True)
class DeleteNamespaceResponse(Answered):
    deleted: int = 0
    """How many memories it held."""


class DeleteNamespacesRequest(TypedDict):
    prefix: str
    """What the names of the namespaces begin with, 1 to 256 bytes. They are dropped although they hold memories."""

    dry_run: NotRequired[bool | None]
    """Drop nothing, and tell what would be dropped."""


@dataclass(frozen=True, kw_only=True)
class DeleteNamespacesResponse(Answered):
    deleted: int = 0
    """How many namespaces were dropped."""

    more: bool = False
    """Whether others are left: send the same request again."""

    namespaces: tuple[str, ...] = ()
    """The names of those that were dropped or, of a dry run, of those that the next call would drop, in the order of their bytes."""

    memories: int = 0
    """How many memories these held, also superseded ones."""

    matched: int | None = None
    """How many namespaces begin with the prefix; only of a dry run."""


class ListNamespacesRequest(TypedDict):
    page_size: NotRequired[int | None]
    """How many to return at most: 1 to 100, 50 when left out."""

    page_token: NotRequired[str | None]
    """`next_page_token` of the page before; left out for the first."""

    prefix: NotRequired[str | None]
    """What the names of the namespaces begin with, up to 256 bytes; all of them when left out. The pages of one list have the same prefix."""


@dataclass(frozen=True, kw_only=True)
class ListNamespacesResponse(Answered):
    namespaces: tuple[Namespace, ...] = ()
    """In the order of their names' bytes."""

    next_page_token: str = ""
    """Empty on the last page."""


@dataclass(frozen=True, kw_only=True)
class Namespace:
    """A namespace and what it holds."""

    namespace: str = ""

    memories: int = 0
    """How many memories it holds, also superseded ones."""

    bytes: int = 0
    """Bytes of their texts and metadata together."""


class GetNamespaceRequest(TypedDict):
    namespace: str
    """The namespace to describe."""


@dataclass(frozen=True, kw_only=True)
class GetNamespaceResponse(Answered):
    namespace: Namespace

    first: str | None = None
    """When the oldest memory that ListMemories shows was stored, or changed last. Absent if there is none, and if more than 10,240 deleted or hidden ones stand before it."""

    last: str | None = None
    """When the newest memory that ListMemories shows was stored, or changed last. Absent if there is none, and if more than 10,240 deletions or hidden ones come after it."""


class ListMemoriesRequest(TypedDict):
    namespace: str
    """The namespace to list."""

    page_size: NotRequired[int | None]
    """How many to return at most: 1 to 100, 50 when left out."""

    page_token: NotRequired[str | None]
    """`next_page_token` of the page before; left out for the first."""

    filter: NotRequired[Metadata | None]
    """Which memories to list: a filter in the language that docs/filters.md describes; all when left out or empty. The pages of one list have the same filter."""

    order: NotRequired[Order | None]
    """What the memories are ordered by. The pages of one list have the same order."""

    include_superseded: NotRequired[bool | None]
    """Whether memories that others superseded are listed, too."""


@dataclass(frozen=True, kw_only=True)
class ListMemoriesResponse(Answered):
    memories: tuple[Memory, ...] = ()
    """In the order that the request asks for."""

    namespace: str = ""
    """The namespace, as it was given."""

    next_page_token: str = ""
    """Empty on the last page."""


class CountMemoriesRequest(TypedDict):
    namespace: str
    """The namespace to count in."""

    filter: NotRequired[Metadata | None]
    """Which memories to count: a filter in the language that docs/filters.md describes; all when left out or empty."""

    include_superseded: NotRequired[bool | None]
    """Whether memories that others superseded count, too."""


@dataclass(frozen=True, kw_only=True)
class CountMemoriesResponse(Answered):
    memories: int = 0
    """How many memories the namespace holds, or how many match the filter; 0 if nobody stored to it."""

    namespace: str = ""
    """The namespace, as it was given."""


class WatchNamespaceRequest(TypedDict):
    namespace: str
    """The namespace to watch."""

    position: NotRequired[str | None]
    """Where to begin: `position` of the last event that was seen, or of an export. Left out, it begins now."""


class ExportMemoriesRequest(TypedDict):
    namespace: str
    """The namespace to export."""

    include_vectors: NotRequired[bool | None]
    """Whether each memory has its vectors."""

    filter: NotRequired[Metadata | None]
    """Which memories to export: a filter in the language that docs/filters.md describes; all when left out or empty."""


ErrorCode = Literal[
    "canceled",
    "unknown",
    "invalid_argument",
    "deadline_exceeded",
    "not_found",
    "already_exists",
    "permission_denied",
    "resource_exhausted",
    "failed_precondition",
    "aborted",
    "out_of_range",
    "unimplemented",
    "internal",
    "unavailable",
    "data_loss",
    "unauthenticated",
]
"""Closed list of what can go wrong: that of the Connect protocol. docs/errors.md says what each means."""


Reason = Literal[
    # All calls of the account's plan are used.
    "QUOTA_EXHAUSTED",
    # The body is over 1,048,576 bytes (StoreBatch: 8,388,608), as sent or after decompressing.
    "BODY_TOO_LARGE",
    # Too many sign-ups, unknown keys or requests without a key come from this address, or too many sign-ups in all.
    "RATE_LIMITED",
    # The key, or all keys of its account together, make more calls a second than the plan allows.
    "KEY_RATE_LIMITED",
    # The key, its account or the server has as many running calls as it may.
    "CONCURRENCY_LIMITED",
    # Requests and answers in memory, the caller's or everyone's, fill what is reserved for them.
    "BODIES_LIMITED",
    # The operator removed the account's plan and must assign another.
    "PLAN_UNKNOWN",
    # The key may only read.
    "KEY_READ_ONLY",
    # The key is for another namespace, or the call is about the account.
    "KEY_OTHER_NAMESPACE",
    # An application got the key by OAuth, and the call is about the account.
    "KEY_OF_CLIENT",
    # The namespace holds memories, and `force` is not set.
    "NAMESPACE_NOT_EMPTY",
    # It is the account's last key, and `force` is not set.
    "LAST_KEY",
    # The account has 50 keys.
    "KEYS_LIMIT",
    # The text or the metadata has what looks like a secret, and `on_secret` is REFUSE; `metadata.secrets` tells kinds and places.
    "SECRET_FOUND",
    # Another memory of the namespace has the `external_id`; `metadata.id` names it.
    "EXTERNAL_ID_TAKEN",
    # The memory was superseded by another one, `metadata.superseded_by`, and cannot be changed any more.
    "MEMORY_SUPERSEDED",
    # The memory was changed since its etag was read; `metadata.etag` is the current one.
    "ETAG_MISMATCH",
    # The `Idempotency-Key` was used for another request within 24 hours.
    "IDEMPOTENCY_KEY_REUSED",
    # The memory that this `Idempotency-Key` stored was deleted.
    "IDEMPOTENT_MEMORY_DELETED",
    # The database cannot write; its disk may be full.
    "STORAGE_NOT_WRITABLE",
    # The model has too much work to finish before the call's deadline.
    "MODEL_BUSY",
    # The account or the server has as many open watches or exports as it may.
    "STREAMS_LIMITED",
    # The position is of another namespace, or of one that was dropped since.
    "POSITION_GONE",
    # The namespace's index alone is larger than `INDEX_MEMORY_BYTES_MAX`: delete memories, or ask the operator to raise it.
    "INDEX_TOO_LARGE",
    # The account broke off too many calls while the model read their texts.
    "ABANDONED_WORK",
]
"""Constants that programs can branch on. Servers may know further ones."""


PARTS: Mapping[type, Mapping[str, type]] = {
    StoreResponse: {"similar": Similar, "redacted": Redacted},
    Similar: {"memories": SimilarMemory},
    Redacted: {"secrets": FoundSecret},
    StoreBatchResponse: {"results": StoreBatchResult},
    StoreBatchResult: {"stored": StoredItem, "error": Problem},
    StoredItem: {"redacted": Redacted},
    RecallResponse: {"results": RecallResult, "omitted": OmittedMemories},
    RecallResult: {"match": Match, "explanation": Explanation, "before": NeighborMemories, "after": NeighborMemories},
    NeighborMemories: {"memories": Memory},
    OmittedMemories: {"memories": OmittedMemory},
    GetMemoryResponse: {"memory": Memory},
    GetMemoriesResponse: {"memories": Memory},
    UpdateMemoryResponse: {"memory": Memory, "redacted": Redacted},
    DeleteMemoriesResponse: {"samples": Memory},
    UpdateMemoriesResponse: {"failed": UpdateFailure, "samples": Memory},
    UpdateFailure: {"error": Problem},
    ListNamespacesResponse: {"namespaces": Namespace},
    GetNamespaceResponse: {"namespace": Namespace},
    ListMemoriesResponse: {"memories": Memory},
}
"""Fields of answers that are messages themselves."""

LONG_FIELDS = frozenset({"bytes"})
"""Fields that JSON gives as strings and the client as numbers."""


A = TypeVar("A", bound=Answered)


@dataclass(frozen=True)
class Method(Generic[A]):
    """One call of the service that has one answer."""

    name: str
    answer: type[A]
    writes: bool
    """Whether it changes something, so that it needs an idempotency key."""


STORE = Method("Store", StoreResponse, True)
STORE_BATCH = Method("StoreBatch", StoreBatchResponse, True)
RECALL = Method("Recall", RecallResponse, False)
GET_MEMORY = Method("GetMemory", GetMemoryResponse, False)
GET_MEMORIES = Method("GetMemories", GetMemoriesResponse, False)
UPDATE_MEMORY = Method("UpdateMemory", UpdateMemoryResponse, True)
DELETE_MEMORY = Method("DeleteMemory", DeleteMemoryResponse, True)
DELETE_MEMORIES = Method("DeleteMemories", DeleteMemoriesResponse, True)
UPDATE_MEMORIES = Method("UpdateMemories", UpdateMemoriesResponse, True)
DELETE_NAMESPACE = Method("DeleteNamespace", DeleteNamespaceResponse, True)
DELETE_NAMESPACES = Method("DeleteNamespaces", DeleteNamespacesResponse, True)
LIST_NAMESPACES = Method("ListNamespaces", ListNamespacesResponse, False)
GET_NAMESPACE = Method("GetNamespace", GetNamespaceResponse, False)
LIST_MEMORIES = Method("ListMemories", ListMemoriesResponse, False)
COUNT_MEMORIES = Method("CountMemories", CountMemoriesResponse, False)


__all__ = [
    "Answered",
    "CountMemoriesRequest",
    "CountMemoriesResponse",
    "DeleteMemoriesRequest",
    "DeleteMemoriesResponse",
    "DeleteMemoryRequest",
    "DeleteMemoryResponse",
    "DeleteNamespaceRequest",
    "DeleteNamespaceResponse",
    "DeleteNamespacesRequest",
    "DeleteNamespacesResponse",
    "ErrorCode",
    "Explanation",
    "ExportMemoriesRequest",
    "FoundSecret",
    "GetMemoriesRequest",
    "GetMemoriesResponse",
    "GetMemoryRequest",
    "GetMemoryResponse",
    "GetNamespaceRequest",
    "GetNamespaceResponse",
    "Json",
    "ListMemoriesRequest",
    "ListMemoriesResponse",
    "ListNamespacesRequest",
    "ListNamespacesResponse",
    "Match",
    "Memory",
    "Metadata",
    "Mode",
    "Namespace",
    "NeighborMemories",
    "Neighbors",
    "OmittedMemories",
    "OmittedMemory",
    "OnConflict",
    "OnSecret",
    "OnSimilar",
    "Order",
    "Outcome",
    "Problem",
    "Reason",
    "RecallRequest",
    "RecallResponse",
    "RecallResult",
    "Recency",
    "Redacted",
    "Similar",
    "SimilarMemory",
    "StoreBatchRequest",
    "StoreBatchResponse",
    "StoreBatchResult",
    "StoreItem",
    "StoreRequest",
    "StoreResponse",
    "StoredItem",
    "UpdateFailure",
    "UpdateMemoriesRequest",
    "UpdateMemoriesResponse",
    "UpdateMemoryRequest",
    "UpdateMemoryResponse",
    "WatchNamespaceRequest",
]
