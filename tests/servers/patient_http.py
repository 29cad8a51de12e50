"""Use httpx with more patience than its five seconds: a machine may stand still for longer.

It reads all certificates of the system for each request, which takes longer than the request; these
trust nobody unless `verify` says whom.
"""

import ssl
from functools import partial

import httpx

PATIENCE_SECONDS = 60
USUAL = {"timeout": PATIENCE_SECONDS, "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}

Client = partial(httpx.Client, **USUAL)
get = partial(httpx.get, **USUAL)
head = partial(httpx.head, **USUAL)
post = partial(httpx.post, **USUAL)
stream = partial(httpx.stream, **USUAL)


def answers(url):
    """Return whether the site there can be reached."""
    try:
        return get(f"{url}/healthz").status_code == 200
    except httpx.TransportError:
        return False
