"""Answer a screen in a project without our middlewares: its actor, its failures, its headers."""

from collections.abc import Callable

from django.core.exceptions import BadRequest, PermissionDenied
from django.db import Error
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django_htmx.middleware import HtmxDetails

from atributo_site.core.events import Actor, acting
from atributo_site.web.error_pages import bad_request, busy, forbidden, is_away, not_found
from atributo_site.web.middleware import request_id_of

Answer = Callable[[], HttpResponseBase]


def unaided(request: HttpRequest, answer: Answer) -> HttpResponseBase:
    """Do what the middlewares have not done; after them this does nothing."""
    if not hasattr(request, "htmx"):
        request.htmx = HtmxDetails(request)  # type: ignore[attr-defined]
    if hasattr(request, "asked_by"):
        return answer()
    number = request_id_of(request.headers.get("X-Request-Id", ""))
    request.request_id = number  # type: ignore[attr-defined]
    with acting(Actor(request.user.get_username() or "anonymous", "browser", number)):
        response = _or_failure(request, answer)
    response.headers.setdefault("Cache-Control", "no-store")
    return response


def _or_failure(request: HttpRequest, answer: Answer) -> HttpResponseBase:
    """Show our page of a failure, not that of the project, which knows nothing of roles."""
    try:
        return answer()
    except PermissionDenied as error:
        return forbidden(request, error)
    except BadRequest as error:
        return bad_request(request, error)
    except Http404 as error:
        return not_found(request, error)
    except Error as error:
        if not is_away(error):
            raise
        return busy(request, error)
