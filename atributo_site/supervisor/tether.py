"""Run a program that dies when its parent dies: `tether.py PARENT_PID PROGRAM ARGUMENT…`.

A supervisor killed with -9 must leave no server behind that holds the port or the socket. Linux
signals a child when its parent dies; elsewhere the program just runs.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, argv: list[str]) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before the call
        sys.exit(1)
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
