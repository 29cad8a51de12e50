"""Use httpx with more patience than its five seconds: a machine may stand still for longer."""

from functools import partial

import httpx

PATIENCE_SECONDS = 60

Client = partial(httpx.Client, timeout=PATIENCE_SECONDS)
get = partial(httpx.get, timeout=PATIENCE_SECONDS)
head = partial(httpx.head, timeout=PATIENCE_SECONDS)
post = partial(httpx.post, timeout=PATIENCE_SECONDS)
stream = partial(httpx.stream, timeout=PATIENCE_SECONDS)


def answers(url):
    """Return whether the site there can be reached."""
    try:
        return get(f"{url}/healthz").status_code == 200
    except httpx.TransportError:
        return False
