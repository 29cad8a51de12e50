"""Render a page of Markdown as HTML: no markup of the file passes, and links stay on this site."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import urlsplit

from django.utils.html import escape
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from atributo_site.manual.pages import Page, name_of, pages

Address = Callable[[str, str], str]  # ("page" or "picture", name) → address on this site
ABROAD = ("http", "https")
IN_CONTENTS = ("h2", "h3")


@dataclass(frozen=True)
class Heading:
    """A line of the table of contents."""

    anchor: str
    text: str
    level: int


@dataclass(frozen=True)
class Rendered:
    title: str
    body: SafeString
    contents: tuple[Heading, ...]


class Renderer(RendererHTML):
    """HTML of the usual kind, but tables and code can scroll and code can be copied."""

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return '<div class="doc-wide" tabindex="0" role="group" aria-label="Table"><table>'

    def th_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Make the corner of a table that heads no column a plain cell."""
        tokens[idx].tag = "th" if tokens[idx + 1].content else "td"
        return self.renderToken(tokens, idx, options, env)

    def th_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        tokens[idx].tag = "th" if tokens[idx - 1].content else "td"
        return self.renderToken(tokens, idx, options, env)

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return "</table></div>"

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        code = escape(tokens[idx].content)
        return (
            '<div class="doc-code"><pre tabindex="0" role="group" aria-label="Code">'
            f'<code>{code}</code></pre><button type="button" class="copy needs-js"'
            f' data-copy="{code}" aria-label="Copy the code">Copy</button></div>'
        )

    code_block = fence


def render(page: Page, address: Address) -> Rendered:
    """Return the page; it is rendered once for each version of its file."""
    return _rendered(page, page.file.stat().st_mtime_ns, address, address("page", page.name))


@lru_cache(maxsize=256)
def _rendered(page: Page, version: int, address: Address, own: str) -> Rendered:
    """Render a page that stands at its `own` address: below another prefix links lead elsewhere."""
    tokens = _parser().parse(page.text)
    headings = _give_anchors(tokens)
    _lead_links(tokens, page, address)
    title, rest = _without_title(tokens, page)
    body = _parser().renderer.render(rest, _parser().options, {})
    contents = tuple(each for each in headings if f"h{each.level}" in IN_CONTENTS)
    return Rendered(title, SafeString(body), contents)  # nosec B703 # markup in files is escaped


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    safe = {"html": False, "linkify": False, "typographer": False}
    return MarkdownIt("commonmark", safe, renderer_cls=Renderer).enable("table")


def _give_anchors(tokens: Sequence[Token]) -> list[Heading]:
    """Give each heading the anchor that code hosts give it, so the same links work here."""
    headings, seen = [], Counter[str]()
    for opening, inline in zip(tokens, tokens[1:], strict=False):
        if opening.type == "heading_open":
            text = _text(inline)
            anchor = anchor_of(text)
            number = seen[anchor]
            seen[anchor] += 1
            anchor = f"{anchor}-{number}" if number else anchor
            opening.attrSet("id", anchor)
            headings.append(Heading(anchor, text, int(opening.tag[1])))
    return headings


def anchor_of(text: str) -> str:
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def _text(inline: Token) -> str:
    return "".join(each.content for each in inline.children or [])


def _without_title(tokens: list[Token], page: Page) -> tuple[str, list[Token]]:
    """Take the title off, which the frame of the page shows."""
    if len(tokens) > 2 and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        return _text(tokens[1]), tokens[3:]
    return page.name, tokens


def _lead_links(tokens: Sequence[Token], page: Page, address: Address) -> None:
    """Lead links and pictures to this site's own addresses."""
    for inline in (token for token in tokens if token.type == "inline"):
        closing = ""
        for each in inline.children or []:
            if each.type == "image":
                each.attrSet("src", _of_picture(str(each.attrGet("src")), address))
                each.attrSet("loading", "lazy")
            elif each.type == "link_open":
                closing = _lead(each, page, address)
            elif each.type == "link_close" and closing:
                each.tag, closing = closing, ""


def _lead(link: Token, page: Page, address: Address) -> str:
    """Lead one link; what is not a page of the docs becomes plain text. Return its new tag."""
    href = str(link.attrGet("href"))
    parts = urlsplit(href)
    if parts.scheme in ABROAD:
        link.attrSet("rel", "noreferrer")
        return ""
    path = normpath(join(dirname(page.path), parts.path)) if parts.path else page.path
    name = name_of(path)
    if parts.scheme or parts.netloc or name not in pages() or pages()[name].path != path:
        link.tag, link.attrs = "span", {}
        return "span"
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    link.attrSet("href", (address("page", name) if parts.path else "") + fragment)
    return ""


def _of_picture(source: str, address: Address) -> str:
    return address("picture", source.rpartition("/")[2])
