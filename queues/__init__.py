"""Queues and queued jobs: `import queues; queues.create("mail").push(script, data)`.

Nothing of Django is imported before a name is used, so that apps can load in any order.
"""

from importlib import import_module
from typing import Any

EXPORTS = {
    "create": "queues.catalogue",
    "get": "queues.catalogue",
    "get_batch": "queues.jobs.handles",
    "delete": "queues.catalogue",
    "pause": "queues.catalogue",
    "resume": "queues.catalogue",
    "set_target_age": "queues.catalogue",
    "set_record_start": "queues.catalogue",
    "set_limits": "queues.catalogue",
    "what_if": "queues.catalogue",
    "set_weights": "queues.catalogue",
    "snooze": "queues.execution.endings",
    "retry": "queues.execution.endings",
    "give_up": "queues.execution.endings",
}
__all__ = [  # noqa: F822
    "create",
    "delete",
    "get",
    "get_batch",
    "give_up",
    "pause",
    "resume",
    "retry",
    "set_limits",
    "set_record_start",
    "set_weights",
    "snooze",
    "what_if",
]


def __getattr__(name: str) -> Any:
    if name in EXPORTS:
        return getattr(import_module(EXPORTS[name]), name)
    raise AttributeError(f"module 'queues' has no attribute {name!r}")
