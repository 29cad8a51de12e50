"""Types of ASGI, and answers that are given before Django is asked."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.http import HttpResponse

from atributo_site.rest.authentication import TokenAuthentication
from atributo_site.rest.problems import handle, problem
from atributo_site.web import middleware

Message = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
SAFE_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


def numbered(scope: Message, send: Send) -> Send:
    """Return a `send` that adds the request id to the answer, as Django's answers have it."""
    given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
    header = (b"x-request-id", middleware.request_id_of(given).encode())

    async def send_numbered(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], header]}
        await send(message)

    return send_numbered


async def send_problem(send: Send, error: Exception) -> None:
    """Answer for an address that is only read."""
    response = handle(error, {})
    if response.status_code == 401:
        response["WWW-Authenticate"] = TokenAuthentication.challenge
    if response.status_code == 405:
        response["Allow"] = "GET, HEAD"
    await send_response(send, response)


async def refuse(send: Send, status: int, code: str, detail: str) -> None:
    """Answer and close the connection, as the rest of the request is not read."""
    response = problem(status, code, detail)
    response["Connection"] = "close"
    await send_response(send, response)


async def send_response(send: Send, response: HttpResponse) -> None:
    for name, value in SAFE_HEADERS.items():
        response[name] = value
    response["Content-Length"] = str(len(response.content))
    headers = [(k.lower().encode("latin-1"), v.encode("latin-1")) for k, v in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
