"""Show a page of the docs with its table of contents, and the pictures."""

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from atributo_site.console.base.screen import Screen
from atributo_site.manual import pages
from atributo_site.manual.markdown import render

DAY_SECONDS = 24 * 60 * 60


class Docs(Screen):
    actions: ClassVar[dict[str, str]] = {"GET": "docs.view"}
    template_name = "console/docs/detail.html"

    def get(self, request: HttpRequest, page: str = pages.FRONT) -> HttpResponse:
        shown = render(pages.page(page), address_of)
        return self.show(
            title=shown.title, page=shown, page_name=page, sections=_menu(page), **_beside(page)
        )


class Picture(Screen):
    actions: ClassVar[dict[str, str]] = {"GET": "docs.view"}

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        content, kind = pages.picture(name)
        caching = {"Cache-Control": f"private, max-age={DAY_SECONDS}"}
        return HttpResponse(content, content_type=kind, headers=caching)


def address_of(kind: str, name: str) -> str:
    if kind == "picture":
        return reverse("atributo:docs-picture", args=[name])
    return reverse("atributo:docs-page", args=[name]) if name else reverse("atributo:docs")


def _menu(current: str) -> list[dict[str, Any]]:
    return [
        {
            "title": section.title,
            "pages": [_link(name, title, current) for name, title in section.pages],
        }
        for section in pages.sections()
    ]


def _link(name: str, title: str, current: str = "") -> dict[str, Any]:
    return {"title": title, "url": address_of("page", name), "current": name == current}


def _beside(name: str) -> dict[str, Any]:
    """Return the pages before and after this one, in the order of the front page."""
    order = [each for section in pages.sections() for each in section.pages]
    names = [each for each, _ in order]
    if name not in names:
        return {"next": _link(*order[0])} if name == pages.FRONT and order else {}
    at = names.index(name)
    before = {"previous": _link(*order[at - 1])} if at else {}
    return before | ({"next": _link(*order[at + 1])} if at + 1 < len(order) else {})
