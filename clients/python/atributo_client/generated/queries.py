"""What lists can be asked for. Written by `python -m tests.clients.generate`; change nothing here."""

from datetime import datetime
from typing import Literal, NotRequired, TypedDict


class AllocationsListQuery(TypedDict):
    cursor: NotRequired[str]
    instance: NotRequired[str]
    limit: NotRequired[int]
    prefix: NotRequired[str]


class BatchesListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]
    queue: NotRequired[str]
    state: NotRequired[list[Literal["complete", "failed", "open", "running"]]]


class CollectionsListQuery(TypedDict):
    after: NotRequired[str]
    limit: NotRequired[int]
    offset: NotRequired[int]
    query: NotRequired[str]
    sort: NotRequired[str]


class CollectionsRefsRetrieveQuery(TypedDict):
    before: NotRequired[int]
    limit: NotRequired[int]
    values: NotRequired[bool]


class DocumentsDeleteQuery(TypedDict):
    raise_if_locked: NotRequired[bool]


class DocumentsGetQuery(TypedDict):
    raise_if_locked: NotRequired[bool]
    ref: NotRequired[str]


class DocumentsPatchQuery(TypedDict):
    raise_if_locked: NotRequired[bool]


class DocumentsPutQuery(TypedDict):
    raise_if_locked: NotRequired[bool]


class EventsListQuery(TypedDict):
    actor: NotRequired[str]
    cursor: NotRequired[str]
    kind: NotRequired[str]
    limit: NotRequired[int]
    since: NotRequired[datetime | str]
    subject: NotRequired[str]
    until: NotRequired[datetime | str]


class IncidentsListQuery(TypedDict):
    limit: NotRequired[int]
    severity: NotRequired[Literal["error", "warning", "notice"]]
    since: NotRequired[datetime | str]
    until: NotRequired[datetime | str]


class InstancesDestroyQuery(TypedDict):
    drop_jobs: NotRequired[int]
    reason: NotRequired[str]


class InstancesJobsListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]


class InstancesListQuery(TypedDict):
    available: NotRequired[bool]
    cursor: NotRequired[str]
    label: NotRequired[str]
    limit: NotRequired[int]
    prefix: NotRequired[str]
    state: NotRequired[Literal["available", "dead", "drained", "draining", "unavailable"]]


class JobsListQuery(TypedDict):
    batch: NotRequired[str]
    cursor: NotRequired[str]
    fingerprint: NotRequired[str]
    limit: NotRequired[int]
    queue: NotRequired[str]
    repeating: NotRequired[bool]
    script: NotRequired[str]
    since: NotRequired[datetime | str]
    state: NotRequired[Literal["waiting", "delayed", "paused", "blocked", "running", "complete", "failed", "aborted", "expired"]]
    status: NotRequired[list[Literal["complete", "failed", "pending", "progress"]]]
    text: NotRequired[str]
    until: NotRequired[datetime | str]
    upto: NotRequired[int]


class LocksListQuery(TypedDict):
    collection: NotRequired[str]
    cursor: NotRequired[str]
    key: NotRequired[str]
    limit: NotRequired[int]
    transaction: NotRequired[float]


class OperationsListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]


class PoolsBackendsListQuery(TypedDict):
    administrative: NotRequired[Literal["drain", "maintenance", "ready"]]
    cursor: NotRequired[str]
    limit: NotRequired[int]
    state: NotRequired[Literal["gone", "present", "refused"]]


class PoolsChangesListQuery(TypedDict):
    cursor: NotRequired[str]
    kind: NotRequired[Literal["added", "administered", "failed", "fresh", "gone", "kept", "refused", "removed", "returned", "running", "settled", "stale", "waiting"]]
    limit: NotRequired[int]


class PoolsListQuery(TypedDict):
    cursor: NotRequired[str]
    is_watched: NotRequired[bool]
    limit: NotRequired[int]
    state: NotRequired[Literal["failed", "running", "starting", "stopped"]]


class QueuesJobsListQuery(TypedDict):
    batch: NotRequired[str]
    cursor: NotRequired[str]
    fingerprint: NotRequired[str]
    limit: NotRequired[int]
    queue: NotRequired[str]
    repeating: NotRequired[bool]
    script: NotRequired[str]
    since: NotRequired[datetime | str]
    state: NotRequired[Literal["waiting", "delayed", "paused", "blocked", "running", "complete", "failed", "aborted", "expired"]]
    status: NotRequired[list[Literal["complete", "failed", "pending", "progress"]]]
    text: NotRequired[str]
    until: NotRequired[datetime | str]
    upto: NotRequired[int]


class QueuesListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]


class SchedulesListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]


class SchedulesRunsQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]


class ScriptsRunQuery(TypedDict):
    dry_run: NotRequired[bool]


class ServicesUninstallQuery(TypedDict):
    force: NotRequired[bool]
    teardown: NotRequired[bool]


class TokensListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]
    user: NotRequired[str]


class TransactionsListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]
    open: NotRequired[bool]
    owner: NotRequired[str]
    status: NotRequired[Literal["active", "completed", "rolled_back", "rolling_back", "stuck"]]
