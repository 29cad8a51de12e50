"""Choose the theme by a form that sets a cookie, which works without JavaScript; the favicon."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.templatetags.static import static
from django.views.decorators.http import require_POST, require_safe

from atributo_site.console.base.screen import own_page
from atributo_site.pages.mount import prefix
from atributo_site.web.error_pages import THEME_COOKIE, THEMES, failure

YEAR_SECONDS = 365 * 24 * 60 * 60


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """Answer /favicon.ico, which browsers ask for whatever the page says."""
    return HttpResponseRedirect(static("atributo/img/favicon.ico"))


@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        return failure(request, 400)
    response = HttpResponseRedirect(own_page(request, request.POST.get("next", ""), prefix()))
    response.set_cookie(
        THEME_COOKIE,
        theme,
        max_age=YEAR_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )
    return response
