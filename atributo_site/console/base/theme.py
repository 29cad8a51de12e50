"""The theme switch: a form that sets a cookie, so that it works without JavaScript.

Browsers ask for /favicon.ico whatever the page says.
"""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.templatetags.static import static
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from atributo_site.web.error_pages import THEME_COOKIE, THEMES, failure


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect(static("atributo/img/favicon.ico"))


YEAR_SECONDS = 365 * 24 * 60 * 60


@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        return failure(request, 400)
    response = HttpResponseRedirect(_back(request))
    response.set_cookie(
        THEME_COOKIE,
        theme,
        max_age=YEAR_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )
    return response


def _back(request: HttpRequest) -> str:
    page = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(
        page, {request.get_host()}, require_https=request.is_secure()
    )
    return page if safe else "/"
