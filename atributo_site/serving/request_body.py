"""Read request bodies before a thread is taken, within a size and a time limit."""

import asyncio

from atributo_site.serving.asgi_types import Message, Receive

READ_SECONDS = 10.0  # where the server itself does not close what is half sent

ANNOUNCING = {b"content-length", b"transfer-encoding"}  # HTTP/1.1 has no body without them


class BodyTooLarge(Exception):
    """More bytes came than the site accepts, whatever was announced."""


class BodyTooSlow(Exception):
    """The body did not arrive in time."""


class BodyCut(Exception):
    """The client went away in the middle."""


async def body_of(scope: Message, receive: Receive, limit: int) -> bytes:
    if not any(name in ANNOUNCING for name, _ in scope["headers"]):
        return b""
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await _collected(receive, limit)
    except TimeoutError as error:
        raise BodyTooSlow from error


async def _collected(receive: Receive, limit: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BodyCut
        body += message.get("body", b"")
        if len(body) > limit:
            raise BodyTooLarge
        if not message.get("more_body", False):
            return bytes(body)
