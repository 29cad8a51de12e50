"""Choose theme and density by forms that set cookies, without JavaScript; the favicon."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.templatetags.static import static
from django.views.decorators.http import require_POST, require_safe

from atributo_site.console.base.screen import own_page
from atributo_site.pages.mount import prefix
from atributo_site.web.error_pages import DENSITIES, DENSITY_COOKIE, THEME_COOKIE, THEMES, failure

YEAR_SECONDS = 365 * 24 * 60 * 60


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """Answer /favicon.ico, which browsers ask for whatever the page says."""
    return HttpResponseRedirect(static("atributo/img/favicon.ico"))


@require_POST
def choose_look(request: HttpRequest) -> HttpResponse:
    """Remember the theme or how close the rows of tables stand, whichever button was pressed."""
    known = {THEME_COOKIE: THEMES, DENSITY_COOKIE: DENSITIES}
    given = {name: request.POST[name] for name in known if name in request.POST}
    if not given or any(value not in known[name] for name, value in given.items()):
        return failure(request, 400)
    response = HttpResponseRedirect(own_page(request, request.POST.get("next", ""), prefix()))
    for name, value in given.items():
        response.set_cookie(
            name,
            value,
            max_age=YEAR_SECONDS,
            httponly=True,
            samesite="Lax",
            secure=request.is_secure(),
        )
    return response
