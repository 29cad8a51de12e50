"""Queues and queued jobs: `import queues; queues.create("mail").push(script, data)`.

Nothing of Django is imported before a name is used, so that apps can load in any order.
"""

from importlib import import_module
from typing import Any

EXPORTS = {
    "create": "queues.catalogue",
    "get": "queues.catalogue",
    "delete": "queues.catalogue",
    "pause": "queues.catalogue",
    "resume": "queues.catalogue",
    "set_target_age": "queues.catalogue",
    "set_record_start": "queues.catalogue",
}
__all__ = ["create", "delete", "get", "pause", "resume", "set_record_start"]  # noqa: F822


def __getattr__(name: str) -> Any:
    if name in EXPORTS:
        return getattr(import_module(EXPORTS[name]), name)
    raise AttributeError(f"module 'queues' has no attribute {name!r}")
