"""Documents of a run: a write commits only while the attempt is still the one that counts."""

from collections.abc import Callable
from typing import Any

from allocation.transactions.client import Client
from queues.attempt import Attempt


def _guarded(name: str) -> Callable[..., Any]:
    write = getattr(Client, name)

    def guarded(self: "GuardedClient", *args: Any, **kwargs: Any) -> Any:
        with self.attempt.guarded(name):
            return write(self, *args, **kwargs)

    return guarded


class GuardedClient(Client):
    """Whatever changes something asks the job's row first, in the same database transaction."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__()
        self.attempt = attempt

    put = _guarded("put")
    delete = _guarded("delete")
    patch = _guarded("patch")
    patch_merge = _guarded("patch_merge")
    drop = _guarded("drop")
    put_relation = _guarded("put_relation")
    delete_relation = _guarded("delete_relation")
    post_event = _guarded("post_event")
    put_event = _guarded("put_event")
    delete_event = _guarded("delete_event")
