from allocation.models.allocation import Allocation, PastAllocation
from allocation.models.drain import Drain
from allocation.models.event import Event
from allocation.models.fence_count import FenceCount
from allocation.models.hold import Hold
from allocation.models.id_number import IdNumber
from allocation.models.instance import Instance, InstanceLoad
from allocation.models.lease import Lease
from allocation.models.rebalance import Rebalance
from allocation.models.roster import Roster

__all__ = [
    "Allocation",
    "Drain",
    "Event",
    "FenceCount",
    "Hold",
    "IdNumber",
    "Instance",
    "InstanceLoad",
    "Lease",
    "PastAllocation",
    "Rebalance",
    "Roster",
]

from allocation.transactions.models import *  # noqa: E402, F403
