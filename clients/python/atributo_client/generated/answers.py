"""What the site answers. Written by `python -m tests.clients.generate`; change nothing here."""

from typing import Any, Literal, NotRequired, TypedDict

from atributo_client.generated.bodies import ScriptName


class Allocated(TypedDict):
    job_id: str
    instance_id: str
    persisted: bool


class Allocation(TypedDict):
    job_id: str
    instance_id: str
    epoch: int
    allocated_at: str
    strategy: str
    candidates: int
    score: NotRequired[float | None]
    actor: str
    channel: str
    labels: dict[str, str] | None


class Attempt(TypedDict):
    attempt: int
    run: int
    worker: str
    outcome: str
    started_at: str
    ended_at: str | None
    seconds: float | None
    error: str
    traceback: str
    percent: float | None
    note: str
    transactions: list[int]
    log: list[dict[str, Any]]


class Backend(TypedDict):
    key: str
    name: str
    address: str
    port: int
    priority: NotRequired[int]
    weight: NotRequired[int]
    state: NotRequired[str]
    state_since: str
    administrative: NotRequired[str]
    administrative_by: NotRequired[str]
    reason: NotRequired[str]
    instance_id: str
    first_seen_at: str
    last_seen_at: str
    connections: dict[str, int]
    why_dead: list[str]


class BackendChange(TypedDict):
    id: int
    at: str
    kind: str
    key: NotRequired[str]
    backend: NotRequired[str]
    detail: NotRequired[str]
    actor: str


class BackfillAnswer(TypedDict):
    count: int
    done: int
    first: str | None
    last: str | None


class BacklogEnd(TypedDict):
    jobs: int
    is_cut: bool
    ends_at: str | None
    held_by: str
    unknown: list[str]
    said: str


class BatchAnswer(TypedDict):
    results: "list[BatchItem]"
    deallocated: NotRequired[int]


class BatchCounts(TypedDict):
    total: int
    waiting: int
    blocked: int
    running: int
    complete: int
    failed: int
    aborted: int
    expired: int


class BatchItem(TypedDict):
    job_id: str
    instance_id: NotRequired[str]
    persisted: NotRequired[bool]
    deallocated: NotRequired[bool]
    code: NotRequired[str]
    detail: NotRequired[str]


class CancelledJob(TypedDict):
    id: str | None


class ChangedBatch(TypedDict):
    changed: int
    refused: dict[str, str]


class ChangedQueues(TypedDict):
    changed: int
    queues: list[str]


class Curator(TypedDict):
    name: str
    active: bool
    epoch: int | None
    since: str
    heartbeat_age_seconds: float | None
    repaired: dict[str, int]


class Cure(TypedDict):
    does: NotRequired[str]
    label: NotRequired[str]
    preview: NotRequired[str]
    name: NotRequired[str]
    values: NotRequired[dict[str, str]]


class Decoded(TypedDict):
    job_id: str
    time: str
    worker_id: int
    cluster_size: int
    exact: bool


class Detail(TypedDict):
    id: int
    status: NotRequired[str]
    epoch: NotRequired[int]
    owner: NotRequired[str]
    label: NotRequired[str]
    channel: NotRequired[str]
    cause: NotRequired[str]
    reason: NotRequired[str]
    error: NotRequired[str]
    attempts: NotRequired[int]
    started_at: str
    expires_at: str
    limit_at: str
    finished_at: NotRequired[str | None]
    journal: "list[Journal]"
    locks: "list[Held]"


class Done(TypedDict):
    status_code: int
    collection: str
    key: str
    ref: str
    token: int | None
    value: Any


class Drain(TypedDict):
    reason: str
    started_at: str
    deadline_at: str | None
    moves_per_minute: int | None
    jobs_at_start: int
    moved: int
    stuck: bool
    done_at: str | None
    left: "Left"


class Event(TypedDict):
    id: int
    at: str
    actor: str
    channel: str
    kind: str
    subject: str
    facts: dict[str, Any]
    request_id: NotRequired[str]


class ExpectedRun(TypedDict):
    at: str
    local: str
    note: str


class FoundBackend(TypedDict):
    key: str
    name: str
    address: str
    port: int
    priority: int
    weight: int


class Held(TypedDict):
    id: int
    collection: str
    key: str
    mode: str
    token: int
    acquired_at: str


class History(TypedDict):
    results: "list[Version]"
    next: int | None


class Incident(TypedDict):
    id: int | None
    kind: str
    subject: str
    severity: str
    state: str
    title: str
    detail: NotRequired[str]
    affected: NotRequired[str]
    command: str
    cure: "Cure"
    screen: str
    count: NotRequired[int]
    since: str
    opened_at: str
    last_seen_at: str
    resolved_at: NotRequired[str | None]
    acknowledged_by: NotRequired[str]
    acknowledged_at: NotRequired[str | None]
    note: NotRequired[str]


class Incidents(TypedDict):
    open: "list[Incident]"
    resolved: "list[Incident]"
    more: bool


class Instance(TypedDict):
    id: str
    available: NotRequired[bool]
    state: str
    load: int
    source: NotRequired[str]
    weight: NotRequired[int]
    capacity: NotRequired[int | None]
    labels: dict[str, str]
    lease_until: NotRequired[str | None]
    reason: NotRequired[str]
    epoch: NotRequired[int]
    created_at: str
    changed_at: str
    drain: "Drain | None"


class Job(TypedDict):
    job_id: str
    epoch: int
    allocated_at: str
    strategy: str
    actor: str


class JobBatch(TypedDict):
    id: str
    name: str
    queue: str
    state: str
    done: "ScriptName | None"
    failed: "ScriptName | None"
    jobs: "BatchCounts"
    percent: float
    callback: str | None
    restarts: int
    created_by: str
    created_at: str
    closed_at: str | None
    ended_at: str | None


class JobId(TypedDict):
    id: str


class JobIds(TypedDict):
    ids: list[str]


class JobLinks(TypedDict):
    after: "list[LinkedJob]"
    before: "list[LinkedJob]"


class JobOperation(TypedDict):
    id: int
    action: str
    query: dict[str, Any]
    said: str
    reason: NotRequired[str]
    actor: str
    state: NotRequired[str]
    expected: int
    visited: NotRequired[int]
    changed: NotRequired[int]
    refused: NotRequired[int]
    created_at: str
    ended_at: NotRequired[str | None]


class Journal(TypedDict):
    id: int
    action: str
    collection: str
    key: str
    before_present: bool
    before_ref: NotRequired[str]
    before_value: Any
    after_ref: str
    undo: NotRequired[str]
    at: str


class Left(TypedDict):
    keys: int
    running_jobs: int
    open_claims: int


class Limits(TypedDict):
    limits: list[dict[str, Any]]
    weights: dict[str, int]
    waits_for: str
    since: str | None
    waiting: "list[WaitingFlow]"


class LinkedJob(TypedDict):
    id: str
    script: str
    state: str
    even_if_failed: bool


class Lock(TypedDict):
    id: int
    collection: str
    key: str
    mode: str
    token: int
    holder: int
    owner: str
    acquired_at: str
    expires_at: str
    waiters: int


class LookUpStep(TypedDict):
    server: str
    name: str
    type: str
    attempt: int
    took_ms: float
    result: str
    ttl_seconds: int | None
    ago_ms: float


class LookedUp(TypedDict):
    host: str
    state: str
    error: str
    took_ms: float
    backends: "list[FoundBackend]"
    steps: "list[LookUpStep]"


class Made(TypedDict):
    job_ids: list[str]


class MadeToken(TypedDict):
    id: int
    user: str
    name: str
    level: str
    source: NotRequired[str]
    created_at: str
    expires_at: str | None
    last_used_at: NotRequired[str | None]
    token: str


class Me(TypedDict):
    user: str
    role: str
    scope: str | None
    source: str
    may: list[str]


class Move(TypedDict):
    job_id: str
    from_instance: str
    to_instance: str


class NewBatchId(TypedDict):
    id: str
    jobs: list[str]


class OneJobOperation(TypedDict):
    id: int
    action: str
    query: dict[str, Any]
    said: str
    reason: NotRequired[str]
    actor: str
    state: NotRequired[str]
    expected: int
    visited: NotRequired[int]
    changed: NotRequired[int]
    refused: NotRequired[int]
    created_at: str
    ended_at: NotRequired[str | None]
    refusals: list[dict[str, Any]]


class Page(TypedDict):
    results: "list[Result]"
    next: Any


class Path(TypedDict):
    collection: str
    key: str
    ref: str


class Planned(TypedDict):
    jobs: NotRequired[int]
    looked_at: NotRequired[int]
    count: NotRequired[int]
    nowhere: NotRequired[int]
    arrivals: NotRequired[dict[str, int]]
    moves: NotRequired["list[Move]"]
    instances: NotRequired[dict[str, str | None]]
    progress: NotRequired["Progress | None"]


class Pool(TypedDict):
    name: str
    domain: str
    service: NotRequired[str]
    default_port: NotRequired[int]
    nameservers: list[str]
    recovery: dict[str, Any]
    ttl_floor_ms: NotRequired[int]
    ttl_ceiling_ms: NotRequired[int]
    removal_share: NotRequired[float]
    grace_seconds: NotRequired[int]
    is_watched: NotRequired[bool]
    epoch: int
    created_at: str
    asked_at: str | None
    state: str
    shown_state: str
    state_since: str
    stale_since: str | None
    last_error: str
    looked_up_at: str | None
    next_at: str | None
    next_srv_at: str | None
    next_v6_at: str | None
    next_v4_at: str | None
    waiting: int
    waiting_since: str | None
    steps: "list[LookUpStep]"


class Progress(TypedDict):
    running: bool
    stopped: bool
    since: str
    moves_per_minute: int
    jobs: int
    looked_at: int
    moved: int
    fraction: float


class Queue(TypedDict):
    name: str
    max_workers: int
    running: int
    paused: bool
    paused_by: str
    retention_days: int
    when_away: str
    away_seconds: int
    target_age_seconds: int | None
    record_start: bool
    limits: list[dict[str, Any]]
    weights: dict[str, int]
    created_at: str


class QueuedJob(TypedDict):
    id: str
    queue: str
    script: "ScriptName"
    status: str
    state: str
    data: Any
    result: Any
    error: str
    attempt: int
    run: str
    runs: int
    run_failures: int
    max_failures: int
    repeat_times: int
    repeat_delay: int
    repeat_until: str | None
    paused: bool
    paused_by: str
    pause_reason: str
    back_off: Any
    timeout: int | None
    success: Any
    failure: Any
    priority: int
    unique_key: str | None
    flow_key: str | None
    limits: list[dict[str, Any]]
    sticky_key: str | None
    concurrent: bool
    instance: str | None
    instance_epoch: int | None
    waits_for: str
    batch: str | None
    pushed_by: str
    created_at: str
    delay_until: str
    expires_at: str | None
    expired: bool
    started_at: str | None
    ended_at: str | None


class Removal(TypedDict):
    may: bool
    available: bool
    jobs: int
    holds: dict[str, int]
    sentence: str


class Result(TypedDict):
    path: "Path"
    value: Any


class Schedule(TypedDict):
    name: str
    script: "ScriptName"
    data: Any
    queue: str
    options: dict[str, Any]
    rule: Any
    zone: str
    starts_at: str | None
    ends_at: str | None
    most_runs: int | None
    jitter: int
    overlap: str
    catch_up: int
    grace: int
    pause_after_failures: int | None
    said: str
    state: str
    next_at: str | None
    runs: int
    failures: int
    paused_at: str | None
    paused_by: str
    pause_reason: str
    paused_until: str | None
    ended_at: str | None
    service: str
    created_at: str
    created_by: str
    changed_at: str


class SchedulePreview(TypedDict):
    said: str
    difference: str
    runs: "list[ExpectedRun]"


class ScheduledRun(TypedDict):
    slot_at: str
    kind: str
    state: str
    reason: str
    job_id: str | None
    dispatched_at: str | None
    started_at: str | None
    ended_at: str | None
    late_seconds: float | None


class Script(TypedDict):
    name: str
    title: str
    description: str
    schema: Any
    defaults: dict[str, Any]
    record_start: bool
    limits: list[dict[str, Any]]
    limits_by: str
    declared_limits: list[dict[str, Any]]
    threads: int


class ScriptRun(TypedDict):
    id: str
    href: str
    mount: str
    script: str
    dry_run: bool
    state: str
    result: Any
    error: str
    status_code: int | None


class Service(TypedDict):
    mount: str
    name: str
    version: str
    description: str
    development: bool
    scripts: dict[str, str]
    configuration: dict[str, Any]
    missing_options: list[str]
    installed_at: str
    changed_at: str


class StartedRun(TypedDict):
    job_id: str


class Token(TypedDict):
    id: int
    user: str
    name: str
    level: str
    source: NotRequired[str]
    created_at: str
    expires_at: str | None
    last_used_at: NotRequired[str | None]


class Transaction(TypedDict):
    id: int
    status: NotRequired[str]
    epoch: NotRequired[int]
    owner: NotRequired[str]
    label: NotRequired[str]
    channel: NotRequired[str]
    cause: NotRequired[str]
    reason: NotRequired[str]
    error: NotRequired[str]
    attempts: NotRequired[int]
    started_at: str
    expires_at: str
    limit_at: str
    finished_at: NotRequired[str | None]


class Values(TypedDict):
    values: dict[str, Any]
    warnings: dict[str, str]


class Version(TypedDict):
    path: dict[str, Any]
    at: str
    transaction: int | None
    position: int
    value: NotRequired[Any]


class WaitingFlow(TypedDict):
    flow_key: str
    script: "ScriptName"
    waits_for: str
    since: str | None
    jobs: int
    running: int


class WhatIf(TypedDict):
    now: "BacklogEnd"
    then: "Any"


class Written(TypedDict):
    collection: str
    key: str
    ref: str
