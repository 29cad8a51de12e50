"""How many REST requests a user may send per minute, counted in this process."""

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from atributo_site.rest.buckets import Buckets

requests = Buckets()


class PerMinute(BaseThrottle):
    """By user, anonymous requests by address; 429 tells when to come back."""

    seconds = 0

    def allow_request(self, request: Request, view: Any) -> bool:
        limit = settings.ATRIBUTO.requests_per_minute
        self.seconds = requests.wait(_key(request), limit, per_seconds=60)
        return self.seconds == 0

    def wait(self) -> float:
        return self.seconds


def _key(request: Request) -> str:
    if request.user.is_authenticated:
        return f"user {request.user.pk}"
    return f"address {request.META.get('REMOTE_ADDR', '')}"
