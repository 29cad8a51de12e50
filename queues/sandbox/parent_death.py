"""End a process with its parent.

As a script, `parent_death.py PARENT_PID PROGRAM ARGUMENT…` becomes a program that is killed when
its parent dies: a supervisor killed with -9 must leave no server behind that holds the port or
the socket. It runs without site-packages, so it imports the standard library alone.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with_parent(number: int = signal.SIGTERM) -> None:
    """Let the kernel send `number` when the parent dies; only Linux does."""
    parent = os.getppid()
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:  # it died before we asked
        os.kill(os.getpid(), number)


def become(parent: int, argv: list[str]) -> None:
    die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:  # it died before this process began
        sys.exit(1)
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    become(int(sys.argv[1]), sys.argv[2:])
