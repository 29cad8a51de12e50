"""Tables that every room uses: events, leases and fence counts; and the database clock."""

from atributo_site.core.models.event import Event
from atributo_site.core.models.fence_count import FenceCount
from atributo_site.core.models.lease import Lease

__all__ = ["Event", "FenceCount", "Lease"]
