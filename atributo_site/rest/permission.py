"""Check that a request may do what its method stands for, by the one table of actions."""

from typing import Any

from rest_framework.exceptions import MethodNotAllowed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from atributo_site.permissions import ACTIONS, Level, holds, may

RANK = {level: number for number, level in enumerate(Level)}


class ActionPermission(BasePermission):
    """Read `view.actions`, method → action; a view without it is always refused."""

    def has_permission(self, request: Request, view: Any) -> bool:
        actions: dict[str, str] = getattr(view, "actions", {})
        if not request.user.is_authenticated or not actions:
            return False
        if request.method == "OPTIONS":
            return any(allowed(request, action) for action in actions.values())
        return allowed(request, _action(request, actions))


def allowed(request: Request, action: str) -> bool:
    """Require that both the user and, where there is one, the token are allowed."""
    return may(request.user, action) and within(request.auth, ACTIONS[action])


def permitted(request: Request) -> list[str]:
    """Return the actions that are allowed, each level asked for once."""
    user, scope = request.user, request.auth
    levels = {level for level in Level if holds(user, level) and within(scope, level)}
    return [action for action, level in ACTIONS.items() if level in levels]


def within(scope: Any, level: Level) -> bool:
    """Return True for a session, which has no scope, and for a token up to its scope."""
    return scope is None or RANK[Level(scope.level)] >= RANK[level]


def _action(request: Request, actions: dict[str, str]) -> str:
    method = "GET" if request.method == "HEAD" else str(request.method)
    if method not in actions:
        raise MethodNotAllowed(method)
    return actions[method]
