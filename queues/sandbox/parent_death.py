"""A process that must not outlive its parent."""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with_parent(number: int = signal.SIGTERM) -> None:
    """The kernel sends `number` when the parent dies; elsewhere than on Linux nothing happens."""
    parent = os.getppid()
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:  # it died before we asked
        os.kill(os.getpid(), number)
