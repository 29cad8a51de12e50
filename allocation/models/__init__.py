from allocation.models.event import Event
from allocation.models.lease import Lease

__all__ = ["Event", "Lease"]
