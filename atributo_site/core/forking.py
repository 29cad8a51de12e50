"""A forked child leaves the connections of its parent alone, and opens its own."""

import os
from typing import Any

from django.db import connections

_kept: list[Any] = []  # neither used nor closed: either would disturb the parent


def leave_to_parent() -> None:
    """In the child. A transaction that the parent had begun stays the parent's."""
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None:
            _kept.append(connection.connection)
            connection.connection = None
            connection.closed_in_transaction = connection.in_atomic_block


def watch_forks() -> None:
    os.register_at_fork(after_in_child=leave_to_parent)
