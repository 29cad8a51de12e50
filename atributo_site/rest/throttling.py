"""How many REST requests a user may send per minute, counted in this process."""

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from atributo_site.client_address import UNKNOWN, own_address
from atributo_site.rest.buckets import Buckets

requests = Buckets()


class PerMinute(BaseThrottle):
    """By user, anonymous requests by an address of their own; 429 tells when to come back."""

    seconds = 0

    def allow_request(self, request: Request, view: Any) -> bool:
        key, limit = _key(request), settings.ATRIBUTO.requests_per_minute
        self.seconds = requests.wait(key, limit, per_seconds=60) if key else 0
        return self.seconds == 0

    def wait(self) -> float:
        return self.seconds


def _key(request: Request) -> str:
    """Nothing where one stranger would use up what others have."""
    if request.user.is_authenticated:
        return f"user {request.user.pk}"
    address = own_address(request)
    return "" if address == UNKNOWN else f"address {address}"
