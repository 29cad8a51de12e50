"""Schedules: `from queues import schedules; schedules.create("nightly", script=..., rule=...)`.

Nothing of Django is imported before a name is used, as in `queues`.
"""

from importlib import import_module
from typing import Any

EXPORTS = ("create", "change", "delete", "pause", "resume", "run_now", "row")
__all__ = ["change", "create", "delete", "deploy", "pause", "resume", "row", "run_now"]  # noqa: F822


def __getattr__(name: str) -> Any:
    if name == "deploy":
        return import_module("queues.schedules.as_code").deploy
    if name in EXPORTS:
        return getattr(import_module("queues.schedules.operations"), name)
    raise AttributeError(f"module 'queues.schedules' has no attribute {name!r}")
