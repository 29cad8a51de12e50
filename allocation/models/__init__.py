from allocation.models.event import Event
from allocation.models.lease import Lease

__all__ = ["Event", "Lease"]

from allocation.transactions.models import *  # noqa: E402, F403
