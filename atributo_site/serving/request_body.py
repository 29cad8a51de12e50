"""Read request bodies before a thread is taken, within a size and a time limit."""

import asyncio

from atributo_site.serving.asgi_types import Message, Receive

READ_SECONDS = 30.0


class BodyTooLarge(Exception):
    """More bytes came than the site accepts, whatever was announced."""


class BodyTooSlow(Exception):
    """The body did not arrive in time."""


class BodyCut(Exception):
    """The client went away in the middle."""


async def body_of(receive: Receive, limit: int) -> bytes:
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


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the whole body at once, then whatever comes after it."""
    given = False

    async def give() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return give
