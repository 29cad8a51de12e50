"""The tables of allocation, with their constraints and querysets."""

from allocation.models.allocation import Allocation, PastAllocation
from allocation.models.drain import Drain
from allocation.models.hold import Hold
from allocation.models.id_number import IdNumber
from allocation.models.instance import Instance, InstanceLoad
from allocation.models.rebalance import Rebalance
from allocation.models.roster import Roster
from atributo_site.core.models.event import Event
from atributo_site.core.models.fence_count import FenceCount
from atributo_site.core.models.lease import Lease

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
