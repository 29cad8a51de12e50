"""Answers to requests that fail before a view: pages for people, problems for programs."""

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string

from atributo_site.console.look import look
from atributo_site.rest.problems import problem

SENTENCES = {
    400: ("bad_request", "The request could not be understood."),
    403: ("forbidden", "Your role does not allow this."),
    404: ("not_found", "There is nothing at this address."),
    409: ("conflict", "Something else came first; look again and repeat."),
    412: ("precondition_failed", "It has changed meanwhile; look again and repeat."),
    413: ("too_large", "The request body is larger than this site accepts."),
    429: ("too_many_requests", "Too many requests; wait a moment and try again."),
    500: ("internal_error", "Something went wrong here; it has been logged."),
    503: ("busy", "The database is busy; try again in a moment."),
}


def failure(request: HttpRequest, status: int, detail: str = "") -> HttpResponse:
    code, sentence = SENTENCES.get(status, ("refused", "This was refused."))
    if request.path.startswith("/api/"):
        return problem(status, code, detail or sentence)
    context = {**look(request), "status": status, "sentence": detail or sentence}
    if status == 403:  # who is in with the wrong name must be able to leave
        context["csrf_token"] = get_token(request)
    # Without the request's own context: a page that says «the database is away» must not ask it.
    return HttpResponse(render_to_string("failure.html", context), status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return failure(request, 400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return failure(request, 403, str(exception))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return failure(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    return failure(request, 500)


def csrf(request: HttpRequest, reason: str = "") -> HttpResponse:
    return failure(request, 403, "The form has expired; reload the page and send it again.")
