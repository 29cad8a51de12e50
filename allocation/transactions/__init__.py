"""Documents, and transactions that change several of them as one.

The public names are loaded when they are used.

`OiotClient` and `Job` are the names that users of the library before this one know.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Client": ("documents.client", "Client"),
    "OiotClient": ("documents.client", "Client"),
    "Transaction": ("engine.transaction", "Transaction"),
    "Job": ("engine.transaction", "Transaction"),
    "Curator": ("curator.repairs", "Curator"),
    "Response": ("store.response", "Response"),
    "Patch": ("documents.patch", "Patch"),
    "Search": ("documents.search", "Search"),
    **{
        name: ("errors", name)
        for name in (
            "CollectionKeyIsLocked",
            "DeadlockDetected",
            "DocumentNotFound",
            "FailedToComplete",
            "FailedToRollBack",
            "InvalidDocument",
            "JobIsCompleted",
            "JobIsFailed",
            "JobIsRolledBack",
            "JobIsTimedOut",
            "PreconditionFailed",
            "RollbackCausedByException",
        )
    },
}
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(import_module(f"{__name__}.{module}"), attribute)
