"""Keep a forked child away from its parent's connections; it opens its own."""

import os
from typing import Any

from django.db import connections

_kept: list[Any] = []  # neither used nor closed: either would disturb the parent


def leave_to_parent() -> None:
    """Drop the connections in the child; a transaction that the parent began stays the parent's."""
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None:
            _kept.append(connection.connection)
            connection.connection = None
            connection.closed_in_transaction = connection.in_atomic_block


def watch_forks() -> None:
    os.register_at_fork(after_in_child=leave_to_parent)
