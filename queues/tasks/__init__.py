"""Functions as jobs: `from queues.tasks import task`; and Django's Tasks API on our queues.

Nothing of the queues is imported before a name is used, so that apps can load in any order.
"""

from importlib import import_module
from typing import Any

EXPORTS = {
    "task": "queues.tasks.decorator",
    "TaskFunction": "queues.tasks.decorator",
    "AtributoBackend": "queues.tasks.backend",
    "AtributoTask": "queues.tasks.backend",
}
__all__ = ["AtributoBackend", "AtributoTask", "TaskFunction", "task"]  # noqa: F822


def __getattr__(name: str) -> Any:
    if name in EXPORTS:
        return getattr(import_module(EXPORTS[name]), name)
    raise AttributeError(f"module 'queues.tasks' has no attribute {name!r}")
