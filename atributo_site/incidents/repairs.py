"""What the active curator does for incidents: open, follow, resolve and, in the end, forget."""

from datetime import datetime

from django.conf import settings
from django.db.transaction import atomic

from atributo_site.core.leases import HeldLease
from atributo_site.core.loops import Repair
from atributo_site.core.models.clock import from_now
from atributo_site.incidents.glance import Glances, glance
from atributo_site.incidents.rows import settle
from atributo_site.models import Incident
from atributo_site.status.snapshot import state_of_everything
from atributo_site.status.symptoms import symptoms

BATCH = 1000
EVERY_SECONDS = 4.5  # so that what is wrong has its row within 5 s


def follow(now: datetime, lease: HeldLease) -> int:
    """Compare what is wrong now with the open rows. This mends nothing."""
    present = symptoms(state_of_everything(now))  # asks Redis: not inside the transaction
    with atomic():
        lease.guard()
        settle(present)
    return 0


def watch(now: datetime, lease: HeldLease) -> int:
    """Follow if anything may differ from the last look, which takes three times the statements."""
    if _glances.is_news(glance(), lease):
        follow(now, lease)
    return 0


_glances = Glances()


def forget_old_incidents(now: datetime, lease: HeldLease) -> int:
    """Keep resolved incidents for as long as events."""
    before = from_now(-settings.ATRIBUTO.event_retention_days * 86400)
    with atomic():
        lease.guard()
        old = Incident.objects.filter(resolved_at__lt=before).order_by("resolved_at")
        return Incident.objects.filter(
            pk__in=list(old.values_list("pk", flat=True)[:BATCH])
        ).delete()[0]


REPAIRS = [
    Repair("incidents", watch, every_seconds=EVERY_SECONDS, budget=1),
    Repair("old incidents", forget_old_incidents, every_seconds=60, budget=BATCH),
]
