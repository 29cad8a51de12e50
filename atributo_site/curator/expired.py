"""Remove what REST keeps for a while, without loading REST into the curator."""

from knox.models import AuthToken

from atributo_site.core.models.clock import from_now
from atributo_site.models import ANSWERS_KEPT_SECONDS, IdempotencyKey

TOKENS_KEPT_SECONDS = 7 * 24 * 60 * 60


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
