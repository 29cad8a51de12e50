"""A pool of connections to the backends of a resolver, for programs with threads."""

from types import TracebackType
from typing import Self

from pools.logic.errors import ClaimError
from pools.logic.numbers import check_wait
from pools.net.pool.claim import CLAIMED, Claim
from pools.net.pool.claim_callback import Callback, ClaimCallback
from pools.net.pool.shell import PoolShell


class ConnectionPool(PoolShell):
    """The pool of programs with threads; see PoolShell for the options."""

    def claim(
        self,
        timeout: float | None = None,
        error_on_empty: bool = False,
        callback: Callback | None = None,
    ) -> Claim:
        """Return a claim: use it as a context manager, wait() for it, or pass a callback.

        The callback gets (error) or (None, handle, connection), later and on a thread for
        callbacks, unless the claim was cancelled before.
        """
        if timeout is not None:
            check_wait("timeout", timeout)
        if callback is None:
            served = Claim.at_once(self)
            if served is not None:
                return served
        elif not callable(callback):
            raise TypeError(f"callback must be callable, not {callback!r}")
        claim = Claim(self)
        if callback is None:
            self._begin(claim, timeout, error_on_empty)
        else:
            self._begin_with(callback, claim, timeout, error_on_empty)
        return claim

    def _begin_with(
        self, callback: Callback, claim: Claim, timeout: float | None, error_on_empty: bool
    ) -> None:
        claim._callback = ClaimCallback(callback)
        try:
            self._begin(claim, timeout, error_on_empty)
        except ClaimError as error:
            claim.answered(None, error)
        if claim.state == CLAIMED:
            claim._report()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
