"""Every box and parameter that takes a text, found by looking: forms of pages, what a view asks
the address for, and what the OpenAPI document says."""

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

from django.core.handlers.wsgi import WSGIRequest
from django.http import QueryDict
from django.urls import Resolver404, resolve
from django.utils.functional import cached_property
from drf_spectacular.generators import SchemaGenerator

from tests.console.addresses import raw_lists
from tests.console.full_site import screens

TYPED = {"text", "search", "password", "hidden", "number", "url", "email", "datetime-local"}
NEVER = {"csrfmiddlewaretoken", "_method"}
HEADERS = [
    *("Accept", "Accept-Language", "Authorization", "Content-Type", "Cookie", "Host"),
    *("Idempotency-Key", "If-Match", "If-None-Match", "If-Modified-Since", "Last-Event-ID"),
    *("Origin", "Range", "Referer", "User-Agent", "X-Forwarded-For", "X-Request-Id", "HX-Target"),
]
NUMBERS = {"id", "pk", "job_id", "number", "transaction", "transaction_id", "operation_id"}
NOTHING_HAPPENS = {"link": "yes"}  # a script is not run, its form is filled in


@dataclass(frozen=True)
class Box:
    """One text in one request; `others` are the fields beside it."""

    method: str
    path: str
    name: str
    kind: str  # query, form, body, header
    others: dict = field(default_factory=dict, compare=False)

    def __str__(self):
        return f"{self.kind} {self.method} {self.path} {self.name}"

    def send(self, client, text):
        if self.kind == "header":
            return client.get(self.path, headers={self.name: latin(text)})
        if self.kind == "query":
            return client.get(self.path, {self.name: text})
        given = {**self.others, self.name: text}
        if self.kind == "body":
            return client.generic(self.method, self.path, json.dumps(given), "application/json")
        return client.post(self.path, given)


def latin(text):
    """A header is a line of Latin letters."""
    return text.replace("\n", " ").encode("latin-1", "replace").decode("latin-1")


def every_box(name, browser, rest, monkeypatch):
    """Each with the client that may write into it; `name` is that of the rows."""
    pages, documented = [*screens(name).values(), *raw_lists().values()], of_rest()
    lists = sorted({box.path for box in documented if box.kind == "query"})
    with monkeypatch.context() as patched:
        seen = looked_for(browser, pages, patched)
        asked = looked_for(rest, lists, patched)
    programs = [*documented, *asked, *headers("/api/v1/jobs", "/api/v1/instances/bench")]
    people = [*seen, *headers("/jobs/")]
    return [
        *((browser, box) for box in each_once(people)),
        *((rest, box) for box in each_once(programs)),
    ]


def headers(*paths):
    return [Box("GET", path, name, "header") for path in paths for name in HEADERS]


def each_once(boxes):
    """However many pages have it; one of all raw lists is as good as another."""
    found = {}
    for box in boxes:
        view = "raw list" if box.path.startswith("/admin/") else view_at(box.path)
        found.setdefault((box.kind, box.method, view, box.name), box)
    return list(found.values())


# -- pages -----------------------------------------------------------------------------------


class Forms(HTMLParser):
    """(method, action, field, the other fields) of every text box of a page."""

    def __init__(self, path, text):
        super().__init__()
        self._path, self._form, self.found = urlsplit(path).path, None, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "form":
            action = urlsplit(given.get("action") or self._path).path
            self._form = (given.get("method", "get").upper(), action, {}, [])
        elif self._form and tag in ("input", "textarea", "select") and given.get("name"):
            self._field(tag, given)

    def _field(self, tag, given):
        name, kind = given["name"], given.get("type", "text")
        if name in NEVER or kind in ("submit", "button"):
            return
        if kind not in ("checkbox", "radio") or "checked" in given:
            self._form[2].setdefault(name, given.get("value") or "")
        if tag == "textarea" or (tag == "input" and kind in TYPED):
            self._form[3].append(name)

    def handle_endtag(self, tag):
        if tag == "form" and self._form:
            method, action, fields, texts = self._form
            self.found += [(method, action, name, fields) for name in texts]
            self._form = None


def of_page(path, page):
    """The boxes of its forms."""
    return [
        Box(method, action, name, "query" if method == "GET" else "form", fields | NOTHING_HAPPENS)
        for method, action, name, fields in Forms(path, page.text).found
    ]


def view_at(path):
    try:
        return resolve(path).url_name
    except Resolver404:
        return path


# -- addresses -------------------------------------------------------------------------------


class Noting(QueryDict):
    """Knows what it was asked for; like the dict of an address, it says no to everything."""

    asked: set = set()

    def get(self, name, default=None):
        Noting.asked.add(name)
        return super().get(name, default)

    def __getitem__(self, name):
        Noting.asked.add(name)
        return super().__getitem__(name)

    def __contains__(self, name):
        Noting.asked.add(name)
        return super().__contains__(name)

    def getlist(self, name, default=None):
        Noting.asked.add(name)
        return super().getlist(name, default)


def looked_for(client, paths, patched):
    """What each view looks for in the address, and the boxes of the page that it answers with."""
    noted = cached_property(lambda request: Noting(request.META["QUERY_STRING"]))
    noted.__set_name__(WSGIRequest, "GET")
    patched.setattr(WSGIRequest, "GET", noted)
    found = []
    for path in paths:
        Noting.asked = set()
        answer, plain = client.get(path), urlsplit(path).path
        found += [Box("GET", plain, name, "query") for name in sorted(Noting.asked - {None})]
        if answer.headers["Content-Type"].startswith("text/html"):
            found += of_page(path, answer)
    return found


# -- REST ------------------------------------------------------------------------------------


def of_rest():
    """Texts of bodies and of addresses, as the OpenAPI document has them."""
    document = SchemaGenerator().get_schema(public=True)
    shapes = document["components"]["schemas"]
    found = []
    for route, methods in document["paths"].items():
        for method, about in methods.items():
            if isinstance(about, dict) and method in ("get", "post", "put", "patch", "delete"):
                path = filled(route)
                found += queries(method.upper(), path, about)
                found += bodies(method.upper(), path, about, shapes)
    return found


def filled(route):
    """Whatever a number is called, there is one row of it."""
    return re.sub(r"\{(\w+)\}", lambda name: "1" if name[1] in NUMBERS else "bench", route)


def queries(method, path, about):
    named = [each for each in about.get("parameters", []) if each["in"] == "query"]
    return [Box("GET", path, each["name"], "query") for each in named if method == "GET"]


def bodies(method, path, about, shapes):
    content = about.get("requestBody", {}).get("content", {}).get("application/json", {})
    shape = shapes.get(content.get("schema", {}).get("$ref", "").rpartition("/")[2], {})
    members = shape.get("properties", {})
    others = {name: sample(members[name]) for name in shape.get("required", [])}
    return [Box(method, path, name, "body", others) for name in members]


def sample(about):
    known = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    return known.get(about.get("type"), "bench")
