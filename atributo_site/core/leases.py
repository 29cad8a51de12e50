"""Hold a lease from a process: take it, keep it, prove it, hand it over."""

import os
import socket
import time
import uuid
from dataclasses import dataclass, field
from functools import partial

from atributo_site.core.errors import LeaseLost
from atributo_site.core.models import Lease
from atributo_site.core.retry import retry_busy

CHECKED_SECONDS = 0.05  # pieces of work that begin together are checked once; each is fenced


def this_process() -> str:
    """Return a holder's name that no other process ever has."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


@dataclass
class HeldLease:
    """Prove that this process is the one that acts in a role."""

    role: str
    token: int
    seconds: float
    using: str = "default"
    _renewed: float = field(default_factory=time.monotonic, repr=False, compare=False)
    _checked: float = field(default=0.0, repr=False, compare=False)

    @classmethod
    def take(
        cls, role: str, holder: str, seconds: float, *, using: str = "default", **facts: object
    ) -> "HeldLease | None":
        token = Lease.objects.using(using).acquire(role, holder, seconds, **facts)
        return None if token is None else cls(role, token, seconds, using)

    def renew(self) -> None:
        leases = Lease.objects.using(self.using)
        renew = partial(leases.renew, self.role, self.token, self.seconds)
        if not retry_busy(renew, self.using, repeatable=True):
            raise LeaseLost(f"the lease '{self.role}' with token {self.token} is over")
        self._renewed = self._checked = time.monotonic()

    def keep(self) -> None:
        """Check the lease before each piece of work; renew it when a third of its time is over."""
        if self._is_old():
            return self.renew()
        if time.monotonic() - self._checked > CHECKED_SECONDS:
            Lease.objects.using(self.using).check_held(self.role, self.token)
            self._checked = time.monotonic()

    def release(self) -> None:
        leases = Lease.objects.using(self.using)
        retry_busy(partial(leases.release, self.role, self.token), self.using, repeatable=True)

    def guard(self) -> None:
        """Let nothing of this database transaction commit unless the lease still holds."""
        if self._is_old():
            return self.renew()
        Lease.objects.using(self.using).guard(self.role, self.token)

    def _is_old(self) -> bool:
        return time.monotonic() - self._renewed > self.seconds / 3
