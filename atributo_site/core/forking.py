"""What a child process does about its parent: it leaves its connections alone, and dies with it.

`forking.py PARENT_PID PROGRAM ARGUMENT…` runs a program that dies with its parent: a supervisor
killed with -9 must leave no server behind that holds the port or the socket. So nothing but the
standard library is imported up here.
"""

import ctypes
import os
import signal
import sys
from typing import Any

PR_SET_PDEATHSIG = 1
_kept: list[Any] = []  # neither used nor closed: either would disturb the parent


def watch_forks() -> None:
    """Let every forked child open connections of its own."""
    os.register_at_fork(after_in_child=leave_to_parent)


def leave_to_parent() -> None:
    """Leave the parent's connections to it, with the transactions that it has begun.

    The child is in none of them: what it does stands at once, on a connection of its own.
    """
    from django.db import connections

    from atributo_site.core.after_commit import forget

    for connection in connections.all(initialized_only=True):
        if connection.connection is not None:
            _kept.append(connection.connection)
            connection.connection = None
        connection.in_atomic_block = connection.closed_in_transaction = False
        connection.savepoint_ids, connection.atomic_blocks = [], []
        forget(connection)


def die_with_parent(number: int = signal.SIGTERM) -> None:
    """Ask the kernel to send this process a signal when its parent dies; Linux only."""
    parent = os.getppid()
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:  # it died before we asked
        os.kill(os.getpid(), number)


def main(parent: int, argv: list[str]) -> None:
    die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
