"""What requests send. Written by `python -m tests.clients.generate`; change nothing here."""

from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict


class Administration(TypedDict):
    administrative: NotRequired[Literal["ready", "drain", "maintenance"]]
    reason: NotRequired[str]


class AskedLabels(TypedDict):
    labels: NotRequired[dict[str, str]]


class Available(TypedDict):
    weight: NotRequired[int]
    capacity: NotRequired[int | None]
    labels: NotRequired[dict[str, str]]
    reason: NotRequired[str]
    lease_seconds: NotRequired[float]


class Backfill(TypedDict):
    since: str
    until: str
    at_once: NotRequired[int]
    preview: NotRequired[bool]


class BackfillOptions(TypedDict):
    at_once: NotRequired[int]
    preview: NotRequired[bool]


class Batch(TypedDict):
    job_ids: list[str]
    operation: NotRequired[Literal["allocate", "deallocate"]]
    labels: NotRequired[dict[str, str]]


class BatchOptions(TypedDict):
    name: NotRequired[str]
    done: NotRequired["ScriptName"]
    failed: NotRequired["ScriptName"]
    jobs: NotRequired["list[JobOfBatch]"]


class Begin(TypedDict):
    label: NotRequired[str]
    owner: NotRequired[str]


class Change(TypedDict):
    folder: str
    configuration: NotRequired[dict[str, Any]]
    setup: NotRequired[bool]
    teardown: NotRequired[bool]
    force: NotRequired[bool]


class ChangeOptions(TypedDict):
    configuration: NotRequired[dict[str, Any]]
    setup: NotRequired[bool]
    teardown: NotRequired[bool]
    force: NotRequired[bool]


class DrainWish(TypedDict):
    reason: NotRequired[str]
    deadline_seconds: NotRequired[float | None]
    moves_per_minute: NotRequired[int | None]
    force: NotRequired[bool]


class Heartbeat(TypedDict):
    seconds: float


class Install(TypedDict):
    mount: str
    folder: str
    configuration: NotRequired[dict[str, Any]]
    setup: NotRequired[bool]
    development: NotRequired[bool]
    force: NotRequired[bool]


class InstallOptions(TypedDict):
    configuration: NotRequired[dict[str, Any]]
    setup: NotRequired[bool]
    development: NotRequired[bool]
    force: NotRequired[bool]


class JobOfBatch(TypedDict):
    script: "ScriptName"
    delay_until: NotRequired[datetime | str]
    delay: NotRequired[int]
    back_off: NotRequired[Any]
    max_failures: NotRequired[int]
    repeat_times: NotRequired[int]
    repeat_until: NotRequired[datetime | str | None]
    repeat_delay: NotRequired[int]
    timeout: NotRequired[int]
    success: NotRequired["ScriptName"]
    failure: NotRequired["ScriptName"]
    priority: NotRequired[int]
    sticky_key: NotRequired[str]
    concurrent: NotRequired[bool]
    expires_at: NotRequired[datetime | str]
    flow_key: NotRequired[str]
    limits: NotRequired[Any]
    after: NotRequired[list[str]]
    even_if_failed: NotRequired[bool]
    data: NotRequired[Any]
    unique_key: NotRequired[str]
    label: NotRequired[str]
    queue: NotRequired[str]


class JobReason(TypedDict):
    reason: NotRequired[str]


class KeyToCancel(TypedDict):
    unique_key: str
    reason: NotRequired[str]


class LimitsPreview(TypedDict):
    limits: Any


class LookUp(TypedDict):
    host: str
    service: NotRequired[str]
    port: NotRequired[int]
    nameservers: NotRequired[list[str]]
    timeout_ms: NotRequired[int]


class LookUpOptions(TypedDict):
    service: NotRequired[str]
    port: NotRequired[int]
    nameservers: NotRequired[list[str]]
    timeout_ms: NotRequired[int]


class NewBatch(TypedDict):
    queue: str
    name: NotRequired[str]
    done: NotRequired["ScriptName"]
    failed: NotRequired["ScriptName"]
    jobs: NotRequired["list[JobOfBatch]"]


class NewInstance(TypedDict):
    weight: NotRequired[int]
    capacity: NotRequired[int | None]
    labels: NotRequired[dict[str, str]]
    reason: NotRequired[str]
    lease_seconds: NotRequired[float]
    id: str


class NewJob(TypedDict):
    script: "ScriptName"
    delay_until: NotRequired[datetime | str]
    delay: NotRequired[int]
    back_off: NotRequired[Any]
    max_failures: NotRequired[int]
    repeat_times: NotRequired[int]
    repeat_until: NotRequired[datetime | str | None]
    repeat_delay: NotRequired[int]
    timeout: NotRequired[int]
    success: NotRequired["ScriptName"]
    failure: NotRequired["ScriptName"]
    priority: NotRequired[int]
    sticky_key: NotRequired[str]
    concurrent: NotRequired[bool]
    expires_at: NotRequired[datetime | str]
    flow_key: NotRequired[str]
    limits: NotRequired[Any]
    batch: NotRequired[str]
    after: NotRequired[list[str]]
    even_if_failed: NotRequired[bool]
    data: NotRequired[Any]
    unique_key: NotRequired[str]
    debounce: NotRequired[bool]
    transaction: NotRequired[int]


class NewJobs(TypedDict):
    script: "ScriptName"
    delay_until: NotRequired[datetime | str]
    delay: NotRequired[int]
    back_off: NotRequired[Any]
    max_failures: NotRequired[int]
    repeat_times: NotRequired[int]
    repeat_until: NotRequired[datetime | str | None]
    repeat_delay: NotRequired[int]
    timeout: NotRequired[int]
    success: NotRequired["ScriptName"]
    failure: NotRequired["ScriptName"]
    priority: NotRequired[int]
    sticky_key: NotRequired[str]
    concurrent: NotRequired[bool]
    expires_at: NotRequired[datetime | str]
    flow_key: NotRequired[str]
    limits: NotRequired[Any]
    batch: NotRequired[str]
    after: NotRequired[list[str]]
    even_if_failed: NotRequired[bool]
    data: list[Any]


class NewOperation(TypedDict):
    action: Literal["retry", "abort", "delete"]
    query: "Query"
    reason: NotRequired[str]
    everything: NotRequired[bool]
    schedules: NotRequired[bool]


class NewPool(TypedDict):
    domain: str
    service: NotRequired[str]
    default_port: NotRequired[int]
    nameservers: NotRequired[list[str]]
    recovery: NotRequired[dict[str, Any]]
    ttl_floor_ms: NotRequired[int]
    ttl_ceiling_ms: NotRequired[int]
    removal_share: NotRequired[float]
    grace_seconds: NotRequired[int]
    is_watched: NotRequired[bool]
    name: str


class NewQueue(TypedDict):
    max_workers: NotRequired[int]
    retention_days: NotRequired[int]
    when_away: NotRequired[Literal["wait", "move", "fail"]]
    away_seconds: NotRequired[int]
    target_age_seconds: NotRequired[int | None]
    record_start: NotRequired[bool]
    limits: NotRequired[Any]
    weights: NotRequired[Any]
    name: str


class NewSchedule(TypedDict):
    rule: Any
    zone: NotRequired[str]
    starts_at: NotRequired[str | None]
    ends_at: NotRequired[str | None]
    most_runs: NotRequired[int | None]
    script: "ScriptName"
    data: NotRequired[Any]
    queue: NotRequired[str]
    options: NotRequired[dict[str, Any]]
    jitter: NotRequired[Any]
    overlap: NotRequired[Literal["skip", "queue_one", "queue_all", "beside", "cancel"]]
    catch_up: NotRequired[Any]
    grace: NotRequired[Any]
    pause_after_failures: NotRequired[int | None]
    name: str


class NewToken(TypedDict):
    name: str
    level: Literal["view", "operate", "administer"]
    days: NotRequired[int]
    source: NotRequired[Literal["manual", "worker"]]


class Note(TypedDict):
    note: NotRequired[str]


class Operation(TypedDict):
    op: Literal["get", "put", "post", "delete", "lock", "list", "search"]
    collection: str
    key: NotRequired[str]
    value: NotRequired[Any]
    ref: NotRequired[str]
    create_only: NotRequired[bool]
    shared: NotRequired[bool]
    wait: NotRequired[float]
    query: NotRequired[str]
    sort: NotRequired[str]
    offset: NotRequired[int]
    after: NotRequired[str]
    limit: NotRequired[int]


class OperationOptions(TypedDict):
    reason: NotRequired[str]
    everything: NotRequired[bool]
    schedules: NotRequired[bool]



class Plan(TypedDict):
    drain: NotRequired[str]
    rebalance: NotRequired[bool]
    moves_per_minute: NotRequired[int]
    job_ids: NotRequired[list[str]]
    labels: NotRequired[dict[str, str]]


class PoolOptions(TypedDict):
    service: NotRequired[str]
    default_port: NotRequired[int]
    nameservers: NotRequired[list[str]]
    recovery: NotRequired[dict[str, Any]]
    ttl_floor_ms: NotRequired[int]
    ttl_ceiling_ms: NotRequired[int]
    removal_share: NotRequired[float]
    grace_seconds: NotRequired[int]
    is_watched: NotRequired[bool]


class PoolSettings(TypedDict):
    domain: NotRequired[str]
    service: NotRequired[str]
    default_port: NotRequired[int]
    nameservers: NotRequired[list[str]]
    recovery: NotRequired[dict[str, Any]]
    ttl_floor_ms: NotRequired[int]
    ttl_ceiling_ms: NotRequired[int]
    removal_share: NotRequired[float]
    grace_seconds: NotRequired[int]
    is_watched: NotRequired[bool]


class PushManyOptions(TypedDict):
    delay_until: NotRequired[datetime | str]
    delay: NotRequired[int]
    back_off: NotRequired[Any]
    max_failures: NotRequired[int]
    repeat_times: NotRequired[int]
    repeat_until: NotRequired[datetime | str | None]
    repeat_delay: NotRequired[int]
    timeout: NotRequired[int]
    success: NotRequired["ScriptName"]
    failure: NotRequired["ScriptName"]
    priority: NotRequired[int]
    sticky_key: NotRequired[str]
    concurrent: NotRequired[bool]
    expires_at: NotRequired[datetime | str]
    flow_key: NotRequired[str]
    limits: NotRequired[Any]
    batch: NotRequired[str]
    after: NotRequired[list[str]]
    even_if_failed: NotRequired[bool]


class PushOptions(TypedDict):
    delay_until: NotRequired[datetime | str]
    delay: NotRequired[int]
    back_off: NotRequired[Any]
    max_failures: NotRequired[int]
    repeat_times: NotRequired[int]
    repeat_until: NotRequired[datetime | str | None]
    repeat_delay: NotRequired[int]
    timeout: NotRequired[int]
    success: NotRequired["ScriptName"]
    failure: NotRequired["ScriptName"]
    priority: NotRequired[int]
    sticky_key: NotRequired[str]
    concurrent: NotRequired[bool]
    expires_at: NotRequired[datetime | str]
    flow_key: NotRequired[str]
    limits: NotRequired[Any]
    batch: NotRequired[str]
    after: NotRequired[list[str]]
    even_if_failed: NotRequired[bool]
    unique_key: NotRequired[str]
    debounce: NotRequired[bool]
    transaction: NotRequired[int]


class Query(TypedDict):
    text: NotRequired[str]
    state: NotRequired[Literal["waiting", "delayed", "paused", "blocked", "running", "complete", "failed", "aborted", "expired"]]
    fingerprint: NotRequired[str]
    since: NotRequired[datetime | str]
    until: NotRequired[datetime | str]


class QueueChanges(TypedDict):
    max_workers: NotRequired[int]
    retention_days: NotRequired[int]
    when_away: NotRequired[Literal["wait", "move", "fail"]]
    away_seconds: NotRequired[int]
    target_age_seconds: NotRequired[int | None]
    record_start: NotRequired[bool]
    limits: NotRequired[Any]
    weights: NotRequired[Any]


class QueueOptions(TypedDict):
    max_workers: NotRequired[int]
    retention_days: NotRequired[int]
    when_away: NotRequired[Literal["wait", "move", "fail"]]
    away_seconds: NotRequired[int]
    target_age_seconds: NotRequired[int | None]
    record_start: NotRequired[bool]
    limits: NotRequired[Any]
    weights: NotRequired[Any]


class Reason(TypedDict):
    reason: NotRequired[str]


class RequiredReason(TypedDict):
    reason: str


class ScheduleChanges(TypedDict):
    repeat_delay: NotRequired[int]
    repeat_times: NotRequired[int]
    repeat_until: NotRequired[datetime | str | None]


class ScheduleOptions(TypedDict):
    zone: NotRequired[str]
    starts_at: NotRequired[str | None]
    ends_at: NotRequired[str | None]
    most_runs: NotRequired[int | None]
    data: NotRequired[Any]
    queue: NotRequired[str]
    options: NotRequired[dict[str, Any]]
    jitter: NotRequired[Any]
    overlap: NotRequired[Literal["skip", "queue_one", "queue_all", "beside", "cancel"]]
    catch_up: NotRequired[Any]
    grace: NotRequired[Any]
    pause_after_failures: NotRequired[int | None]


class SchedulePause(TypedDict):
    reason: NotRequired[str]
    until: NotRequired[str | None]


class ScheduleRule(TypedDict):
    rule: Any
    zone: NotRequired[str]
    starts_at: NotRequired[str | None]
    ends_at: NotRequired[str | None]
    most_runs: NotRequired[int | None]


class ScheduleRuleOptions(TypedDict):
    zone: NotRequired[str]
    starts_at: NotRequired[str | None]
    ends_at: NotRequired[str | None]
    most_runs: NotRequired[int | None]


class ScheduleUpdate(TypedDict):
    rule: NotRequired[Any]
    zone: NotRequired[str]
    starts_at: NotRequired[str | None]
    ends_at: NotRequired[str | None]
    most_runs: NotRequired[int | None]
    script: NotRequired["ScriptName"]
    data: NotRequired[Any]
    queue: NotRequired[str]
    options: NotRequired[dict[str, Any]]
    jitter: NotRequired[Any]
    overlap: NotRequired[Literal["skip", "queue_one", "queue_all", "beside", "cancel"]]
    catch_up: NotRequired[Any]
    grace: NotRequired[Any]
    pause_after_failures: NotRequired[int | None]


class ScriptChange(TypedDict):
    limits: NotRequired[Any]


class ScriptName(TypedDict):
    mount: str
    name: str


class Settings(TypedDict):
    weight: NotRequired[int]
    capacity: NotRequired[int | None]
    labels: NotRequired[dict[str, str]]


class TokenOptions(TypedDict):
    days: NotRequired[int]
    source: NotRequired[Literal["manual", "worker"]]


class Why(TypedDict):
    reason: NotRequired[str]


class Wish(TypedDict):
    count: NotRequired[int]
