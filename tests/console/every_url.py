"""Every URL of the resolver with the permissions that it must follow."""

import re
from dataclasses import dataclass, field

from django.urls import get_resolver
from django.urls.resolvers import RegexPattern, URLResolver

from atributo_site.console.base.screen import Screen
from atributo_site.permissions import ACTIONS, ROLES
from atributo_site.rest.endpoint import Endpoint
from atributo_site.web.raw_lists import RawList

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
SAMPLES = {"int": "1", "id": "none", "path": "1", "str": "none", "slug": "none", "mount": "none"}
REGEX_SAMPLES = {"app_list": "allocation/", None: "nothing-here"}

# The only URLs that answer people who are not logged in, and how.
PUBLIC = {
    "login": {"GET": "answered", "POST": "answered"},
    "logout": {"POST": "log-in"},  # where logging out leads
    "theme": {"POST": "answered"},
    "favicon": {"GET": "answered"},
    "healthz": {"GET": "answered"},
    "readyz": {"GET": "answered"},
}
# Pages of the admin site that belong to no list.
ADMIN_PAGES = {
    "index": {"GET": "overview.view"},
    "app_list": {"GET": "overview.view"},
    "jsi18n": {"GET": "overview.view"},
    "password_change": {"GET": "overview.view", "POST": "overview.view"},
    "password_change_done": {"GET": "overview.view"},
    None: {"GET": "overview.view"},
}
NEVER = "nobody may"


@dataclass(frozen=True)
class Url:
    path: str
    name: str | None
    kind: str  # public, console, rest, unknown
    actions: dict = field(default_factory=dict)

    def __str__(self):
        return self.path

    def expected(self, role, method):
        """Return what the table says: answered, log-in, refused or no such method."""
        if self.kind == "public":
            return self.actions.get(method, "no such method")
        if role is None:
            return "log-in"
        action = self.actions.get(method)
        if action is None:
            return "no such method"
        return "answered" if allows(role, action) else "refused"


def allows(role, action):
    return action != NEVER and ACTIONS[action] in ROLES[role]


def every_url():
    return [make(path, pattern) for path, pattern in walk(get_resolver(), "/")]


def walk(resolver, prefix):
    for pattern in resolver.url_patterns:
        path = prefix + sample(pattern)
        if isinstance(pattern, URLResolver):
            yield from walk(pattern, path)
        else:
            yield path, pattern


def sample(pattern):
    if isinstance(pattern.pattern, RegexPattern):
        return REGEX_SAMPLES[pattern.name]
    route = str(pattern.pattern)
    return re.sub(r"<(?:(\w+):)?\w+>", lambda found: SAMPLES[found[1] or "str"], route)


def make(path, pattern):
    view, name = pattern.callback, pattern.name
    view_class = getattr(view, "view_class", getattr(view, "cls", None))
    raw_list = owner(view)
    if name in PUBLIC:
        return Url(path, name, "public", PUBLIC[name])
    if view_class and issubclass(view_class, Endpoint):
        return Url(path, name, "rest", view_class.actions)
    if view_class and issubclass(view_class, Screen):
        return Url(path, name, "console", view_class.actions)
    if isinstance(raw_list, RawList):
        return Url(path, name, "console", raw_actions(raw_list, name))
    if hasattr(view, "admin_site") and name in ADMIN_PAGES:
        return Url(path, name, "console", ADMIN_PAGES[name])
    return Url(path, name, "unknown")


def owner(view):
    """Return the raw list whose method the view wraps."""
    while hasattr(view, "__wrapped__") and not hasattr(view, "__self__"):
        view = view.__wrapped__
    return getattr(view, "__self__", None)


def raw_actions(raw_list, name):
    page = name.rpartition("_")[2]
    may_change = raw_list.change_action or NEVER
    if page == "add":
        return dict.fromkeys(["GET", "POST"], may_change if raw_list.may_add else NEVER)
    if page == "delete":
        return dict.fromkeys(["GET", "POST"], may_change if raw_list.may_delete else NEVER)
    if page == "changelist" and raw_list.operate_action:
        return {"GET": raw_list.view_action, "POST": raw_list.operate_action}
    return {"GET": raw_list.view_action, "POST": may_change}
