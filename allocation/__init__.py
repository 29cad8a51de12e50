"""Keys stay on their instances, though instances come and go.

Scripts are at home in queues, DNS in pools. The public names are loaded when they are used, so
that apps can load in any order.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "drains": "allocation.placement.drains",
    "holds": "allocation.instances.holds",
    "plans": "allocation.placement.plans",
    "rebalances": "allocation.placement.rebalance",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(_HOMES[name])
