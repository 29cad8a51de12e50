"""Lease: one holder for each role, until it stops renewing."""

from functools import cache

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from atributo_site.core.database import Dialect, dialect, execute
from atributo_site.core.errors import LeaseLost
from atributo_site.core.models.clock import from_now


class LeaseQuerySet(models.QuerySet["Lease"]):
    def acquire(self, role: str, holder: str, seconds: float, **facts: object) -> int | None:
        """Take a role that nobody holds; return the new token, or None while somebody has it."""
        self.bulk_create([self.model(role=role)], ignore_conflicts=True)
        taken = (
            self.filter(role=role)
            .free()
            .update(
                holder=holder,
                token=F("token") + 1,
                facts=facts,
                acquired_at=Now(),
                renewed_at=Now(),
                expires_at=from_now(seconds),
            )
        )
        if not taken:
            return None
        return self.filter(role=role, holder=holder).values_list("token", flat=True).first()

    def renew(self, role: str, token: int, seconds: float) -> bool:
        """Return False once the lease has expired: the holder must acquire it anew."""
        held = self.held().filter(role=role, token=token)
        return held.update(renewed_at=Now(), expires_at=from_now(seconds)) == 1

    def release(self, role: str, token: int) -> bool:
        """Hand the role over at once, on a clean stop."""
        return self.filter(role=role, token=token).update(holder="", expires_at=Now()) == 1

    def guard(self, role: str, token: int) -> None:
        """Stay the holder until this transaction commits, or raise LeaseLost."""
        if not self.select_for_update().held().filter(role=role, token=token).exists():
            raise LeaseLost(f"the lease '{role}' with token {token} is over", role=role)

    def check_held(self, role: str, token: int) -> None:
        """Raise LeaseLost unless it is held now; the curator asks before each piece of work."""
        asked = {"role": role, "token": token}
        if not execute(_is_held(dialect(self.db)), asked, self.db).rows:
            raise LeaseLost(f"the lease '{role}' with token {token} is over", role=role)

    def held(self) -> "LeaseQuerySet":
        return self.exclude(holder="").filter(expires_at__gt=Now())

    def free(self) -> "LeaseQuerySet":
        return self.filter(Q(holder="") | Q(expires_at__isnull=True) | Q(expires_at__lte=Now()))


@cache
def _is_held(d: Dialect) -> str:
    return (
        "SELECT 1 FROM allocation_lease WHERE role = %(role)s AND token = %(token)s "
        f"AND holder <> '' AND expires_at > {d.now}"  # nosec B608 # of constants and dialect
    )


class Lease(models.Model):
    """The token only grows, so that a late holder can be recognised and refused."""

    role = models.CharField(max_length=255, unique=True)
    holder = models.CharField(max_length=255, default="", blank=True)
    token = models.BigIntegerField(default=0)
    facts = models.JSONField(default=dict, blank=True)
    acquired_at = models.DateTimeField(null=True, blank=True)
    renewed_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)

    objects = LeaseQuerySet.as_manager()

    class Meta:
        app_label = "allocation"  # the table keeps its name
        ordering = ["role"]
        indexes = [models.Index(fields=["expires_at"], name="lease_by_expiry")]
        constraints = [
            models.CheckConstraint(condition=Q(token__gte=0), name="lease_token_not_negative"),
            models.CheckConstraint(
                condition=Q(holder="") | Q(expires_at__isnull=False), name="lease_held_expires"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} ({self.holder or 'free'}, token {self.token})"
