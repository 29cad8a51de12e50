"""Services, queues and schedules: successes, retries, failures, transfers, limits, sticky jobs."""

from datetime import timedelta
from typing import Any

import queues
from allocation.transactions import Client
from atributo_site.core.models.clock import database_now
from queues import schedules
from queues.catalogue import set_target_age
from queues.models import Queue, QueuedJob, Schedule, Service
from queues.services import installation
from queues.worker.run_now import in_a_child

MOUNTS = ("mailer", "multiplier", "counter", "fragile", "bank", "traffic")
PEOPLE = ("ada", "grace", "edsger", "barbara", "alan", "katherine")
BALANCES = {"ada": 1000, "grace": 1000, "edsger": 50}
TENANTS = {"acme": 40, "globex": 6, "initech": 3}
MINUTE = 60_000
TRAFFIC_LASTS = timedelta(hours=8)  # so a demo that nobody looks at any more falls silent
MAIL = {"mount": "/mailer", "name": "send-mail"}
MULTIPLY = {"mount": "/multiplier", "name": "multiply"}
COUNT = {"mount": "/counter", "name": "count"}
FAIL = {"mount": "/fragile", "name": "fail"}
STICK = {"mount": "/fragile", "name": "stick"}
TRANSFER = {"mount": "/bank", "name": "transfer"}
TRAFFIC = {"mount": "/traffic", "name": "push"}


def is_empty() -> bool:
    """Ignore the queue `default`, which always exists."""
    return not (
        Queue.objects.exclude(name="default").exists()
        or QueuedJob.objects.exists()
        or Service.objects.exists()
    )


def seed() -> None:
    with in_a_child():  # before there are workers
        for name in MOUNTS:
            if not Service.objects.filter(mount=f"/{name}").exists():
                installation.install(name, f"/{name}")
    _mails()
    _numbers()
    _failures()
    _reports()
    _ledgers()
    _transfers()
    _tenants()
    _schedules()
    _traffic()


def _mails() -> None:
    mail = queues.create("mail", max_workers=2)
    set_target_age("mail", 10)
    mails = [
        {"to": f"{name}@example.org", "subject": f"Invoice {number}"}
        for number in range(1, 4)
        for name in PEOPLE
    ]
    mail.push_many(MAIL, mails)
    later = {"to": "ada@example.org", "subject": "Tomorrow's digest"}
    mail.push(MAIL, later, delay=24 * 60 * MINUTE, unique_key="digest")


def _numbers() -> None:
    numbers = queues.create("numbers", max_workers=4)
    numbers.push_many(MULTIPLY, [[number, number + 1] for number in range(30)])
    numbers.push(MULTIPLY, [6, 7], repeat_times=-1, repeat_delay=MINUTE)
    numbers.push(MULTIPLY, [2, 21], repeat_times=3, repeat_delay=5 * MINUTE)
    numbers.push(COUNT, {"to": 400, "pause_ms": 500}, delay=20_000)


def _failures() -> None:
    """Push jobs that lack their second number, and one that is tried again and again."""
    imports = queues.create("imports", max_workers=1)
    imports.push_many(MULTIPLY, [[number] for number in range(1, 10)], max_failures=0)
    imports.push_many(FAIL, [{"how": "teapot"}] * 3, max_failures=1)
    imports.push_many(MULTIPLY, [[3, 4]] * 6)
    imports.push(FAIL, {"how": "bad result"}, max_failures=-1, back_off=2 * MINUTE)


def _reports() -> None:
    reports = queues.create("reports", max_workers=1)
    queues.pause("reports")
    reports.push_many(COUNT, [{"to": 5, "pause_ms": 200}] * 4, priority=1)


def _ledgers() -> None:
    """Push sticky jobs; each waits for a worker of the instance that its customer has."""
    ledgers = queues.create("ledgers", max_workers=2)
    for number in range(1, 7):
        ledgers.push(MULTIPLY, [number, 7], sticky_key=f"customer-{number:03}")


def _transfers() -> None:
    """Move money and push receipts; one account is overdrawn, some orders get stuck."""
    for name, balance in BALANCES.items():
        account = {"owner": name, "balance": balance, "transfers": 0}
        Client().put("bank_accounts", name, account, ref=False)
    money = queues.create("money", max_workers=2)
    pairs = [("ada", "grace"), ("grace", "edsger"), ("edsger", "ada")] * 4
    orders = [{"from": source, "to": target, "amount": 25} for source, target in pairs]
    money.push_many(TRANSFER, orders)
    money.push(TRANSFER, {"from": "edsger", "to": "ada", "amount": 100_000}, max_failures=1)
    slow = {"from": "ada", "to": "edsger", "amount": 5, "pause_ms": 4000}
    money.push(TRANSFER, slow, delay=15_000)
    money.push(STICK, repeat_times=-1, repeat_delay=MINUTE, unique_key="stick")


def _tenants() -> None:
    """Push much for one tenant and little for the others, who do not wait for the first."""
    tenants = queues.create("tenants", max_workers=4)
    queues.set_limits("tenants", [{"per": "key", "at_once": 1}, {"per": "queue", "at_once": 3}])
    queues.set_weights("tenants", {"globex": 2})
    for tenant, jobs in TENANTS.items():
        tenants.push_many(COUNT, [{"to": 20, "pause_ms": 500}] * jobs, flow_key=tenant)


def _schedules() -> None:
    """Make one by the calendar of a zone, one by an interval, and one that is paused."""
    if Schedule.objects.filter(name="daily-digest").exists():
        return
    mail = {"to": "ada@example.org", "subject": "The day in numbers"}
    digest: dict[str, Any] = {"script": MAIL, "data": mail, "queue": "mail"}
    weekdays = {"rule": {"cron": "30 7 * * mon-fri"}, "zone": "Europe/Berlin"}
    schedules.create("daily-digest", **digest, **weekdays, overlap="queue_one")
    often = {"script": MULTIPLY, "data": [6, 7], "queue": "numbers", "rule": {"every": "5m"}}
    schedules.create("exchange-rates", **often, jitter="10s")
    closing = {"rule": {"calendar": {"days": ["last"], "times": ["18:00"]}}}
    schedules.create("monthly-closing", **digest, **closing, zone="America/New_York")
    schedules.pause("monthly-closing", reason="until the auditors are done")


def _traffic() -> None:
    """Begin when the jobs above have run, so that the charts continue the history before them."""
    until = database_now() + TRAFFIC_LASTS
    every = {"repeat_times": -1, "repeat_delay": MINUTE, "repeat_until": until}
    queues.get("default").push(TRAFFIC, delay=MINUTE // 2, unique_key="traffic", **every)
