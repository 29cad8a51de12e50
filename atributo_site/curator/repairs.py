"""The repairs of the site itself, and the list of all rooms' repairs.

What REST keeps for a while is removed without loading REST into the curator.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models.functions import Now
from django.db.transaction import atomic
from knox.models import AuthToken

from allocation import repairs as allocation
from allocation.transactions.curator import repairs as transactions
from atributo_site.core.leases import HeldLease
from atributo_site.core.loops import Repair
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import from_now
from atributo_site.curator import integrity
from atributo_site.models import ANSWERS_KEPT_SECONDS, IdempotencyKey
from pools import repairs as pools
from queues.maintenance import repairs as queues

BATCH = 1000
PRESENCE_KEPT = timedelta(hours=1)
TOKENS_KEPT_SECONDS = 7 * 24 * 60 * 60


def forget_old_events(now: datetime, lease: HeldLease) -> int:
    before = from_now(-settings.ATRIBUTO.event_retention_days * 86400)
    with atomic():
        lease.guard()
        old = Event.objects.filter(at__lt=before).order_by("at").values("pk")[:BATCH]
        return Event.objects.filter(pk__in=list(old.values_list("pk", flat=True))).delete()[0]


def forget_gone_processes(now: datetime, lease: HeldLease) -> int:
    """Remove leases of processes, named kind/name; other roles keep their tokens for ever."""
    gone = Lease.objects.filter(role__contains="/", expires_at__lt=Now() - PRESENCE_KEPT)
    with atomic():
        lease.guard()
        return gone.filter(pk__in=list(gone.values_list("pk", flat=True)[:BATCH])).delete()[0]


def forget_old_answers(now: datetime, lease: HeldLease) -> int:
    """Remove the answers kept for an Idempotency-Key once they have expired."""
    with atomic():
        lease.guard()
        return remove_old_answers(BATCH)


def forget_expired_tokens(now: datetime, lease: HeldLease) -> int:
    with atomic():
        lease.guard()
        return remove_expired_tokens(BATCH)


REPAIRS = [
    Repair("old events", forget_old_events, every_seconds=60, budget=BATCH),
    Repair("gone processes", forget_gone_processes, every_seconds=60, budget=BATCH),
    Repair("old answers", forget_old_answers, every_seconds=60, budget=BATCH),
    Repair("expired tokens", forget_expired_tokens, every_seconds=3600, budget=BATCH),
    Repair("integrity", integrity.check_next, every_seconds=5, budget=1),
]


def all_repairs() -> list[Repair]:
    """Return every room's repairs, in the order in which a sweep runs them."""
    rooms = [*queues.REPAIRS, *transactions.REPAIRS, *allocation.REPAIRS, *pools.REPAIRS]
    return [*rooms, *REPAIRS]


def remove_old_answers(limit: int) -> int:
    """Delete the answers kept for an Idempotency-Key."""
    expired = IdempotencyKey.objects.filter(created_at__lt=from_now(-ANSWERS_KEPT_SECONDS))
    keys = list(expired.order_by("created_at").values_list("pk", flat=True)[:limit])
    return expired.filter(pk__in=keys).delete()[0]


def remove_expired_tokens(limit: int) -> int:
    """Delete tokens that expired long ago."""
    old = AuthToken.objects.filter(expiry__lt=from_now(-TOKENS_KEPT_SECONDS))
    digests = list(old.values_list("pk", flat=True)[:limit])
    AuthToken.objects.filter(pk__in=digests).delete()
    return len(digests)
