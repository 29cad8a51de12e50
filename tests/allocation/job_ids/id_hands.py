"""Generators of job ids with a clock that tests set."""

import os

from django.db import connections

from allocation.job_ids import ids as job_ids
from allocation.job_ids import sqlite_journal
from allocation.job_ids.ids import Generator
from allocation.logic.job_ids import parse
from allocation.models import IdNumber
from atributo_site.core.models.clock import from_now

HOUR = 3600.0


class Hands:
    """A clock with hands that can be set; sleeping lets the time pass."""

    def __init__(self, seconds=1_790_000_000.0):
        self.wall, self.steady = seconds, 0.0

    def time_ns(self):
        return int(self.wall * 1000) * 1_000_000

    def monotonic(self):
        return self.steady

    def sleep(self, seconds):
        self.wall += seconds
        self.steady += seconds


def generator(hands, worker_id="auto", size=100, lead_ms=1000, patience=1.0):
    return Generator(
        worker_id,
        size,
        lead_ms,
        patience_seconds=patience,
        time_ns=hands.time_ns,
        sleep=hands.sleep,
        monotonic=hands.monotonic,
    )


def lead_seconds(job_id, hands):
    return parse(job_id).time.timestamp() - hands.wall


def is_growing(ids):
    return all(int(a) < int(b) for a, b in zip(ids, ids[1:], strict=False))


def expire_all():
    """Whoever holds a number was killed, and its lease has run out."""
    for row in sqlite_journal.recalled(IdNumber.objects.all(), "default"):
        row.expires_at = from_now(-1)
        row.save()


def lose(made):
    """The lease of this generator has run out, and another process has its number now."""
    IdNumber.objects.filter(pk=made.number.number).update(holder="another", token=99)


def child_ids(count):
    """What a forked child makes with its parent's generator."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        connections.close_all()  # as every forking worker does
        made = [job_ids.get_job_id() for _ in range(count)]
        os.write(writing, " ".join(made).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return text.split()
