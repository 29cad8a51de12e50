"""Find the screen where an incident can be looked at and cured."""

from urllib.parse import urlencode

from django.urls import reverse

from queues.logic.search_query import written

STICKY_COLUMNS = ["state", "script", "sticky", "instance", "when"]
URL_NAMES = {
    "rule.broken": "system-integrity",
    "curator.missing": "transactions-curators",
    "workers.missing": "system-processes",
    "worker.silent": "system-processes",
    "process.restarted": "system-processes",
    "transactions.stuck": "transactions-stuck",
    "transactions.overdue": "transactions",
    "locks.orphaned": "transactions-locks",
    "backends.dead": "pools-live",
    "instances.unavailable": "instances",
    "setting.unknown": "system-settings",
}
OF_SUBJECT = {"instance": "instance", "pool": "pool"}


def screen_of(kind: str, subject: str) -> str:
    """Return the address; the health of the system for what has no screen of its own."""
    noun, _, name = subject.partition(":")
    if kind in URL_NAMES:
        return reverse(f"atributo:{URL_NAMES[kind]}")
    if noun in OF_SUBJECT:
        return reverse(f"atributo:{OF_SUBJECT[noun]}", args=[name])
    if noun == "queue":
        return _waiting(kind, name)
    if kind == "jobs.failing":
        return f"{reverse('atributo:jobs')}?{urlencode({'state': 'failed', 'fingerprint': name})}"
    if kind == "runs.lost":
        return f"{reverse('atributo:events')}?kind=run.lost"
    if kind == "lock.held":
        collection, _, key = name.partition("/")
        asked = {"collection": collection, "key": key}
        return f"{reverse('atributo:transactions-locks')}?{urlencode(asked)}"
    if kind == "log_ins.failing":
        return f"{reverse('atributo:events')}?kind=user.login_failed"
    if kind == "backends.refused":
        return f"{reverse('atributo:pools-backends')}?state=refused"
    return reverse("atributo:system")


def _waiting(kind: str, name: str) -> str:
    if kind == "queue.paused":
        return reverse("atributo:queue", args=[name])
    columns = {"columns": STICKY_COLUMNS} if kind == "queue.sticky_waiting" else {}
    asked = {"state": "waiting", "q": written("queue", name), **columns}
    return f"{reverse('atributo:jobs')}?{urlencode(asked, doseq=True)}"
