"""End the processes that a script starts, with the run: they become ours when orphaned."""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from atributo_site.core.forking import die_with_parent

PR_SET_CHILD_SUBREAPER = 36
END_SECONDS = 2.0
PAUSE_SECONDS = 0.001
HAS_WAITID = hasattr(os, "waitid")  # not on macOS before Python 3.13
EVERY = int(os.P_ALL) if HAS_WAITID else 0
ENDED = os.WEXITED | os.WNOHANG | os.WNOWAIT if HAS_WAITID else 0


def adopt_orphans() -> None:
    """Make every descendant that loses its parent our child: setsid does not prevent that."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def has_children() -> bool:
    """Ask by one system call, since it is asked after every job."""
    if not HAS_WAITID:
        return False
    try:
        os.waitid(EVERY, 0, ENDED)
    except ChildProcessError:
        return False
    return True


def end_children() -> bool:
    """Kill and reap until none is left; the children of a killed one become ours."""
    give_up = time.monotonic() + END_SECONDS
    while has_children() and time.monotonic() < give_up:
        for pid in _children():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(PAUSE_SECONDS)
    return not has_children()


def _children() -> list[int]:
    """Return the children of every thread; empty where the kernel does not tell."""
    pids: list[int] = []
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # the thread ended meanwhile
            pids += [int(word) for word in file.read_text().split()]
    return pids


def keep(work: Callable[[], None], forget: Callable[[], None]) -> NoReturn:
    """Fork a process that works, and end as it ends, together with all that it has started.

    Whoever started us asks for the end with SIGTERM, or by dying. `forget` drops what belongs to
    the working process alone.
    """
    adopt_orphans()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGCHLD})
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    die_with_parent(signal.SIGTERM)
    pid = os.fork()
    if pid == 0:
        work()
    forget()
    _end_as(_end_of(pid))


def _end_of(pid: int) -> int:
    """Return the exit code of the working process, which is killed when the end is asked for."""
    while True:
        asked = signal.sigwait({signal.SIGTERM, signal.SIGCHLD}) == signal.SIGTERM
        ended, status = os.waitpid(pid, os.WNOHANG)
        if asked and not ended:
            os.kill(pid, signal.SIGKILL)
            ended, status = os.waitpid(pid, 0)
        if ended:
            end_children()
            return os.waitstatus_to_exitcode(status)


def _end_as(code: int) -> NoReturn:
    if code < 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # one may be pending
        with suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.kill(os.getpid(), -code)
    os._exit(code)
