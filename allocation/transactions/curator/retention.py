"""Old versions of documents: removed piece by piece, the newest of each key never."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Q
from django.db.transaction import atomic

from allocation.transactions.models import DocumentVersion
from atributo_site.core.failpoints import failpoint
from atributo_site.core.leases import HeldLease

PIECE = 2000


class OldVersions:
    """Walks through the history in its order, so that no sweep reads more than a piece of it.

    What is old and still the newest of its key is passed by; a new round finds it again.
    """

    def __init__(self) -> None:
        self.position = 0

    def __call__(self, now: datetime, lease: HeldLease) -> int:
        before = now - timedelta(days=settings.ATRIBUTO.version_retention_days)
        piece = self._piece()
        old = [version.pk for version in piece if version.at < before and not version.newest]
        is_last = len(piece) < PIECE or piece[-1].at >= before
        with atomic():
            lease.guard()
            removed = DocumentVersion.objects.filter(pk__in=old).delete()[0]
            failpoint("versions.after_delete")
        self.position = 0 if is_last else piece[-1].pk
        return removed

    def _piece(self) -> list[Any]:
        """A ref never comes back, so what is not the newest now never will be."""
        following = DocumentVersion.objects.filter(pk__gt=self.position).order_by("pk")
        return list(following.annotate(newest=Q(ref=F("document__ref"))).only("at")[:PIECE])
