"""Every REST method that may change something, in an order in which each finds its object.

Each entry is (method, name of the URL, address, body, kind of the event). An address names what
earlier answers left behind: `txn`, `job`, `lock` …
"""

NOTHING = None  # in place of a kind: nothing is changed, and the comment says why

SCRIPT = {"mount": "/probe", "name": "act"}
JOB = {"script": SCRIPT, "data": {}, "delay": 3_600_000}
PUT = {"op": "put", "collection": "c", "key": "k", "value": 1}
WHY = {"reason": "the audit"}
PAST = {"since": "2020-06-01", "until": "2023-06-01"}
RULE = {"rule": {"cron": "@yearly"}}
SCHEDULE = {"name": "s", "script": SCRIPT, "queue": "q", **RULE}
POOL = {"name": "web", "domain": "svc.example.com"}

REST = [
    ("POST", "api-instances", "/instances", {"id": "i-1"}, "instance.available"),
    ("PATCH", "api-instance", "/instances/i-1", {"weight": 3}, "instance.changed"),
    ("POST", "api-instance-unavailable", "/instances/i-1/unavailable", {}, "instance.unavailable"),
    ("POST", "api-instance-available", "/instances/i-1/available", {}, "instance.available"),
    # A heartbeat moves a moment on the row; only its absence leads to an event.
    ("POST", "api-instance-heartbeat", "/instances/i-1/heartbeat", {"seconds": 60}, NOTHING),
    ("PUT", "api-allocation", "/allocations/a-1", {}, "allocation.made"),
    ("DELETE", "api-allocation", "/allocations/a-1", None, "allocation.ended"),
    ("PUT", "api-allocations-batch", "/allocations/batch", {}, "allocation.made"),
    ("DELETE", "api-allocations-batch", "/allocations/batch", None, "allocation.ended"),
    ("POST", "api-allocations-batch", "/allocations/batch", {"job_ids": ["b"]}, "allocations.made"),
    ("PUT", "api-allocations-plan", "/allocations/plan", {}, "allocation.made"),
    ("DELETE", "api-allocations-plan", "/allocations/plan", None, "allocation.ended"),
    (
        "POST",
        "api-allocations-plan",
        "/allocations/plan",
        {"rebalance": True, "moves_per_minute": 60},
        "allocations.rebalance_started",
    ),
    ("POST", "api-instance-drain", "/instances/i-1/drain", {}, "instance.draining"),
    ("DELETE", "api-instance-drain", "/instances/i-1/drain", None, "instance.drain_stopped"),
    ("POST", "api-instance-restore", "/instances/i-1/restore", {}, "instance.restored"),
    ("DELETE", "api-instance", "/instances/i-1?drop_jobs=1", None, "instance.removed"),
    # An id is counted in memory, within a number that is leased to the process.
    ("POST", "api-job-ids", "/job-ids", {}, NOTHING),
    ("POST", "api-pools", "/pools", POOL, "pool.watched"),
    ("PATCH", "api-pool", "/pools/web", {"domain": "other.example.com"}, "pool.changed"),
    ("POST", "api-pool-pause", "/pools/web/pause", None, "pool.changed"),
    ("POST", "api-pool-resume", "/pools/web/resume", None, "pool.changed"),
    ("POST", "api-pool-resolve", "/pools/web/resolve", None, "pool.asked"),
    (
        "PATCH",
        "api-pool-backend",
        "/pools/web/backends/10.0.0.1:80",
        {"administrative": "drain"},
        "backend.administered",
    ),
    ("DELETE", "api-pool", "/pools/web", None, "pool.forgotten"),
    # A look-up asks a nameserver and stores nothing.
    ("POST", "api-resolve", "/resolve", {"name": "svc.example.com"}, NOTHING),
    ("POST", "api-collection", "/collections/c", {"n": 1}, "document.put"),
    ("PUT", "api-document", "/collections/c/k", {"n": 1}, "document.put"),
    ("PATCH", "api-document", "/collections/c/k", {"n": 2}, "document.patched"),
    ("DELETE", "api-document", "/collections/c/k", None, "document.deleted"),
    ("DELETE", "api-collection", "/collections/c", None, "collection.dropped"),
    ("POST", "api-transactions", "/transactions", {}, "transaction.began"),
    (
        "POST",
        "api-transaction-operations",
        "/transactions/{txn}/operations",
        PUT,
        "transaction.put",
    ),
    ("POST", "api-transaction-renew", "/transactions/{txn}/renew", {}, "transaction.renewed"),
    (
        "POST",
        "api-transaction-complete",
        "/transactions/{txn}/complete",
        {},
        "transaction.completed",
    ),
    ("POST", "api-transactions", "/transactions", {}, "transaction.began"),
    (
        "POST",
        "api-transaction-operations",
        "/transactions/{txn}/operations",
        PUT,
        "transaction.put",
    ),
    (
        "POST",
        "api-transaction-roll-back",
        "/transactions/{txn}/roll_back",
        {},
        "transaction.rolled_back",
    ),
    ("POST", "api-transactions", "/transactions", {}, "transaction.began"),
    (
        "POST",
        "api-transaction-operations",
        "/transactions/{txn}/operations",
        PUT,
        "transaction.put",
    ),
    ("POST", "api-lock-release", "/locks/{lock}/release", WHY, "lock.released"),
    (
        "POST",
        "api-transaction-retry",
        "/transactions/{stuck}/retry",
        WHY,
        "transaction.rolled_back",
    ),
    ("POST", "api-curators-hand-over", "/curators/hand_over", WHY, "curator.handed_over"),
    (
        "POST",
        "api-services",
        "/services",
        {"folder": "probe", "mount": "/p", "setup": False},
        "service.installed",
    ),
    ("PATCH", "api-services", "/services?mount=/p", {"folder": "probe"}, "service.upgraded"),
    ("PUT", "api-services", "/services?mount=/p", {"folder": "probe"}, "service.replaced"),
    ("PATCH", "api-configuration", "/services/configuration?mount=/p", {}, "service.configured"),
    ("PUT", "api-configuration", "/services/configuration?mount=/p", {}, "service.configured"),
    ("POST", "api-development", "/services/development?mount=/p", None, "service.development"),
    ("DELETE", "api-development", "/services/development?mount=/p", None, "service.development"),
    ("DELETE", "api-services", "/services?mount=/p", None, "service.uninstalled"),
    ("POST", "api-script", "/services/scripts/act?mount=/probe", {}, "script.ran"),
    ("POST", "api-script", "/services/scripts/act?mount=/probe", {"odd": True}, "script.failed"),
    ("POST", "api-script", "/services/scripts/act?mount=/probe&dry_run=true", {}, "script.dry_ran"),
    ("POST", "api-queues", "/queues", {"name": "q"}, "queue.created"),
    ("PATCH", "api-queue", "/queues/q", {"retention_days": 3}, "queue.changed"),
    ("POST", "api-schedules", "/schedules", SCHEDULE, "schedule.created"),
    ("PATCH", "api-schedule", "/schedules/s", {"zone": "Asia/Tokyo"}, "schedule.changed"),
    ("POST", "api-schedule-pause", "/schedules/s/pause", WHY, "schedule.paused"),
    ("POST", "api-schedule-resume", "/schedules/s/resume", None, "schedule.resumed"),
    ("POST", "api-schedule-run", "/schedules/s/run", None, "schedule.run_now"),
    # Previews compute and store nothing.
    ("POST", "api-schedule-preview", "/schedules/s/preview", {"zone": "UTC"}, NOTHING),
    ("POST", "api-schedule-preview-rule", "/schedule-preview", RULE, NOTHING),
    ("POST", "api-schedule-backfill", "/schedules/s/backfill", PAST, "schedule.backfilled"),
    ("DELETE", "api-schedule-backfill", "/schedules/s/backfill", None, "schedule.backfill_stopped"),
    ("DELETE", "api-schedule", "/schedules/s", None, "schedule.deleted"),
    ("POST", "api-queue-pause", "/queues/q/pause", None, "queue.paused"),
    ("POST", "api-queue-resume", "/queues/q/resume", None, "queue.resumed"),
    ("POST", "api-queues-pause", "/queues/pause", None, "queue.paused"),
    ("POST", "api-queues-resume", "/queues/resume", None, "queue.resumed"),
    ("POST", "api-queues", "/queues", {"name": "pause"}, "queue.created"),
    ("PATCH", "api-queues-pause", "/queues/pause", {"max_workers": 2}, "queue.changed"),
    ("DELETE", "api-queues-pause", "/queues/pause", None, "queue.deleted"),
    ("POST", "api-queues", "/queues", {"name": "resume"}, "queue.created"),
    ("PATCH", "api-queues-resume", "/queues/resume", {"max_workers": 2}, "queue.changed"),
    ("DELETE", "api-queues-resume", "/queues/resume", None, "queue.deleted"),
    (
        "POST",
        "api-queue-jobs-batch",
        "/queues/q/jobs/batch",
        {"script": SCRIPT, "data": [1, 2]},
        "jobs.pushed",
    ),
    (
        "POST",
        "api-queue-jobs",
        "/queues/q/jobs",
        {**JOB, "repeat_times": -1, "repeat_delay": 1000},
        "job.pushed",
    ),
    ("POST", "api-job-pause", "/jobs/{job}/pause", {}, "job.paused"),
    ("POST", "api-job-resume", "/jobs/{job}/resume", None, "job.resumed"),
    ("PATCH", "api-job", "/jobs/{job}", {"repeat_delay": 2000}, "job.rescheduled"),
    ("POST", "api-job-run", "/jobs/{job}/run", None, "job.run_now"),
    ("POST", "api-job-abort", "/jobs/{job}/abort", {}, "job.aborted"),
    ("POST", "api-job-retry", "/jobs/{job}/retry", None, "job.reset"),
    ("DELETE", "api-job", "/jobs/{job}", None, "job.deleted"),
    (
        "POST",
        "api-operations",
        "/operations",
        {"action": "retry", "query": {"text": "queue:q"}},
        "operation.started",
    ),
    ("POST", "api-operation-abort", "/operations/{operation}/abort", None, "operation.aborted"),
    ("DELETE", "api-queue", "/queues/q", None, "queue.deleted"),
    (
        "POST",
        "api-incident-acknowledge",
        "/incidents/{incident}/acknowledge",
        {"note": "the audit"},
        "incident.acknowledged",
    ),
    ("POST", "api-tokens", "/tokens", {"name": "t", "level": "view"}, "token.made"),
    ("DELETE", "api-token", "/tokens/{token}", None, "token.revoked"),
]
# The member of an answer that later addresses use.
KEPT = {
    "api-transactions": ("txn", "id"),
    "api-queue-jobs": ("job", "id"),
    "api-operations": ("operation", "id"),
    "api-tokens": ("token", "id"),
}
