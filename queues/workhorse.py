"""The parent's side of the child: start it, hand it work, kill it, replace it."""

import gc
import math
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from django.db import connections

from queues.child import STOP_SIGNAL, become_child
from queues.wire import ChildGone, Wire

UNNOTED_SECONDS = 2.0  # Redis is away: it is tried again later, not before every job
SIGNALS = {number.value: number.name for number in signal.Signals}


class Workhorse:
    """At most one living child. `memory_mb` is what it may use beyond its start."""

    def __init__(self, memory_mb: int, *, fork: bool = sys.platform.startswith("linux")) -> None:
        self.memory_mb = memory_mb
        self._fork = fork
        self._wire: Wire | None = None
        self._pid = 0
        self._fresh_bytes = 0
        self._answered = False
        self._batch = 0
        self._unnoted_until = 0.0
        self._tokens = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._process: subprocess.Popen[bytes] | None = None

    def give(
        self,
        jobs: list[dict[str, Any]],
        deadline: float,
        until: float = math.inf,
        notes: dict[str, Any] | None = None,
    ) -> None:
        """Hand over work, to a new child if the last one died while idle.

        Nothing begins after `until`, and none but the first after the deadline.

        Each job but the first needs a token, a byte in a pipe that either the child takes
        to begin it or the parent takes back: never both, whatever delays one of them.
        """
        self._batch += 1
        message = {
            "jobs": jobs,
            "deadline": deadline,
            "until": until,
            "notes": notes,
            "batch": self._batch,
            "leave": not self._fork,  # one that may idle for long keeps no database connection
        }
        try:
            self._hand_over(message)
        except ChildGone:
            self.kill()
            self._hand_over(message)

    def revoke(self) -> int:
        """Take back the tokens; how many jobs of the batch have not begun and never will."""
        try:
            return len(os.read(self._tokens[0], 1 << 16))
        except BlockingIOError:
            return 0

    def receive(self, timeout: float) -> dict[str, Any] | None:
        """The child's next message, None after the time-out, ChildGone when it died."""
        if self._wire is None:
            raise ChildGone
        message = self._wire.receive(timeout)
        if message is None and self._has_ended():
            message = self._last_words(self._wire)
        self._answered = self._answered or message is not None
        if message is not None and message.get("unnoted"):
            self._unnoted_until = time.monotonic() + UNNOTED_SECONDS
        if message is not None and message["batch"] != self._batch:
            return self.receive(timeout)  # the end of an earlier batch
        return message

    def takes_notes(self) -> bool:
        """Whether what short jobs do is known to Redis before it is in the database."""
        return time.monotonic() >= self._unnoted_until

    def interrupt(self) -> None:
        """Ask the script to stop: TimedOut is raised inside it."""
        if self._pid:
            os.kill(self._pid, STOP_SIGNAL)

    def kill(self) -> str:
        """End the child with everything it started; how it ended."""
        return self.bury() if self._pid else "gone"

    def bury(self) -> str:
        """End what is left of a child and reap it; its end in words.

        One that died keeps the end it had. One that only closed its wire ends here, and in
        either case so does what it started.
        """
        for kill in (os.killpg, os.kill):
            with suppress(ProcessLookupError, PermissionError):
                kill(self._pid, signal.SIGKILL)
        pid, self._pid = self._pid, 0
        if self._wire is not None:
            self._wire.close()
            self._wire = None
        if self._process is not None:
            code = self._process.wait()
            self._process = None
        else:
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code < 0:
            return f"killed (signal {-code}, {SIGNALS.get(-code, '?')})"
        return f"exited with code {code}"

    def close(self) -> None:
        self.kill()
        for descriptor in self._tokens:
            os.close(descriptor)

    def start_seconds(self, allowed: float) -> float:
        """Time for a fresh interpreter to start, until it has answered once."""
        return 0.0 if self._answered else allowed

    def is_fat(self) -> bool:
        """Whether the living child uses more memory than it may."""
        return self._resident() - self._fresh_bytes > self.memory_mb * 2**20

    def _has_ended(self) -> bool:
        """A process that it started may hold its wire open: only the kernel knows."""
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return False
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._pid, how) is not None

    def _last_words(self, wire: Wire) -> dict[str, Any]:
        message = wire.receive(0.0)
        if message is None:
            raise ChildGone
        return message

    def _hand_over(self, message: dict[str, Any]) -> None:
        wire = self._ready()
        self.revoke()
        os.write(self._tokens[1], b"." * (len(message["jobs"]) - 1))
        wire.send(message)

    def _ready(self) -> Wire:
        if self._wire is None or self._has_ended():
            self.kill()
            self._start()
        assert self._wire is not None
        return self._wire

    def _start(self) -> None:
        self._answered = False
        ours, theirs = socket.socketpair()
        if self._fork:
            self._start_by_fork(ours, theirs)
        else:
            self._start_by_exec(theirs)
        theirs.close()
        self._wire = Wire(ours)
        self._fresh_bytes = self._resident()

    def _start_by_fork(self, ours: socket.socket, theirs: socket.socket) -> None:
        connections.close_all()  # a forked copy of a connection would disturb ours
        gc.freeze()  # a collection in the child would copy every page that the two share
        self._pid = os.fork()
        if self._pid == 0:
            os.setpgid(0, 0)
            ours.close()
            become_child(theirs, self._tokens[0], self.memory_mb * 2**20)
        _own_group(self._pid)

    def _start_by_exec(self, theirs: socket.socket) -> None:
        """For processes with threads, and where fork is not safe."""
        descriptors = [theirs.fileno(), self._tokens[0]]
        arguments = [str(number) for number in (*descriptors, self.memory_mb * 2**20)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "queues.launch", *arguments],
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            process_group=0,
        )
        self._pid = self._process.pid

    def _resident(self) -> int:
        try:
            with open(f"/proc/{self._pid}/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            return 0


def _own_group(pid: int) -> None:
    """Both sides ask, so that neither can be too early."""
    with suppress(PermissionError, ProcessLookupError):
        os.setpgid(pid, pid)
