"""The tables of watched names, backends and their changes."""

from pools.models.backend import Backend
from pools.models.change import BackendChange
from pools.models.pool import Pool
from pools.models.pool_snapshot import PoolSnapshot

__all__ = ["Backend", "BackendChange", "Pool", "PoolSnapshot"]
