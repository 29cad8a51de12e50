"""Whether a request may do what its method stands for, by the one table of actions."""

from typing import Any

from rest_framework.exceptions import MethodNotAllowed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from atributo_site.permissions import ACTIONS, Level, may

RANK = {level: number for number, level in enumerate(Level)}


class ActionPermission(BasePermission):
    """Reads `view.actions`, method → action; a view without it is refused always."""

    def has_permission(self, request: Request, view: Any) -> bool:
        actions: dict[str, str] = getattr(view, "actions", {})
        if not request.user.is_authenticated or not actions:
            return False
        if request.method == "OPTIONS":
            return any(allowed(request, action) for action in actions.values())
        return allowed(request, _action(request, actions))


def allowed(request: Request, action: str) -> bool:
    """Both the user and, where there is one, the token must be allowed."""
    return may(request.user, action) and within(request.auth, ACTIONS[action])


def within(scope: Any, level: Level) -> bool:
    """A session has no scope; a token has one and never exceeds it."""
    return scope is None or RANK[Level(scope.level)] >= RANK[level]


def _action(request: Request, actions: dict[str, str]) -> str:
    method = "GET" if request.method == "HEAD" else str(request.method)
    if method not in actions:
        raise MethodNotAllowed(method)
    return actions[method]
