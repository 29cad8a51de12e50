"""Answers to requests that fail before a view: pages for people, problems for programs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from atributo_site.rest.problems import problem

SENTENCES = {
    400: ("bad_request", "The request could not be understood."),
    403: ("forbidden", "Your role does not allow this."),
    404: ("not_found", "There is nothing at this address."),
    413: ("too_large", "The request body is larger than this site accepts."),
    500: ("internal_error", "Something went wrong here; it has been logged."),
    503: ("busy", "The database is busy; try again in a moment."),
}


def failure(request: HttpRequest, status: int, detail: str = "") -> HttpResponse:
    code, sentence = SENTENCES[status]
    if request.path.startswith("/api/"):
        return problem(status, code, detail or sentence)
    context = {"status": status, "sentence": detail or sentence}
    return render(request, "failure.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return failure(request, 400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return failure(request, 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return failure(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    return failure(request, 500)


def csrf(request: HttpRequest, reason: str = "") -> HttpResponse:
    return failure(request, 403, "The form has expired; reload the page and send it again.")
