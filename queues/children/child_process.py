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

from queues.children.child import STOP_SIGNAL, become_child, beginnings
from queues.children.messages import LONGEST_LINE_BYTES, Nonsense, understood
from queues.children.protocol import ChildGone, LineTooLong, NeverRead, Wire
from queues.execution.execution import MOST_LINES
from queues.execution.last_lines import last_lines
from queues.execution.output import read_some
from queues.runs.notes import prepare as prepare_notes
from queues.sandbox.sealing import hide_environment
from queues.sandbox.surroundings import note_modules

UNNOTED_SECONDS = 2.0  # Redis is away: it is tried again later, not before every job
SIGNALS = {number.value: number.name for number in signal.Signals}
END_SECONDS = 5.0  # for a keeper to end what the scripts have started
PAUSE_SECONDS = 0.001
SLACK_SECONDS = 1.0
MOST_MESSAGES = MOST_LINES + 2  # where a log was cut, and how much
STOPPED = {"t": "stopped", "spent": ""}


class Workhorse:
    """At most one living child. `memory_mb` is what it may use beyond its start.

    The child is two processes: a keeper, which we started, and the one in which scripts run.
    """

    def __init__(self, memory_mb: int, *, fork: bool = sys.platform.startswith("linux")) -> None:
        self.memory_mb = memory_mb
        self._fork = fork
        self._wire: Wire | None = None
        self._keeper = 0
        self._pid = 0  # of the process with the scripts, once it has reported
        self._fault = ""
        self._fresh_bytes = 0
        self._answered = False
        self._batch = 0
        self._unnoted_until = 0.0
        self._is_spent = False  # what is left of the batch is for another child
        self._number = 0  # of the job in the batch whose messages are expected
        self._lines = 0
        self._given = 0.0
        self._message: dict[str, Any] = {"jobs": []}  # the last batch that was handed over
        self._is_new = False  # nobody has asked about it yet
        self._output = -1  # the end of the pipe that is read
        self._written = b""  # what the last child wrote before it ended
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
        self._message = {
            "jobs": jobs,
            "deadline": deadline,
            "until": until,
            "notes": notes,
            "batch": self._batch,
            "leave": not self._fork,  # one that may idle for long keeps no database connection
        }
        try:
            self._hand_over()
        except ChildGone:
            self.kill()
            self._hand_over()
        self._is_new = True

    def start(self) -> None:
        """Start the child before there is work for it."""
        self._ready()

    def revoke(self) -> int:
        """Take back the tokens; return how many jobs have not begun and never will."""
        try:
            return len(os.read(self._tokens[0], 1 << 16))
        except BlockingIOError:
            return 0

    def receive(self, timeout: float) -> dict[str, Any] | None:
        """Return the child's next message, None after the time-out; ChildGone when it died.

        A child that is spent is ended here; what it has not begun counts as stopped.
        """
        if self._is_spent:
            return STOPPED
        try:
            message = self._first_or_next_message(time.monotonic() + timeout)
        except (Nonsense, LineTooLong) as error:
            self._fault = f"ended because it sent an invalid message: {error}"
            raise ChildGone from error
        if message is not None and message.get("unnoted"):
            self._unnoted_until = time.monotonic() + UNNOTED_SECONDS
        if message is not None and message.get("spent"):
            self.kill()
            self._is_spent = True
        return message

    def has_message(self) -> bool:
        """Return whether `receive` would not have to wait."""
        return self._is_spent or self._wire is None or self._wire.has_line()

    def fileno(self) -> int:
        """Return the descriptor that can be read when a message comes."""
        return -1 if self._wire is None else self._wire.sock.fileno()

    def takes_notes(self) -> bool:
        """Return whether Redis takes notes of short jobs before the database has them."""
        return time.monotonic() >= self._unnoted_until

    def interrupt(self) -> None:
        """Ask the script to stop: TimedOut is raised inside it."""
        if self._pid:
            with suppress(ProcessLookupError):
                os.kill(self._pid, STOP_SIGNAL)

    def kill(self) -> str:
        """End the child with everything it started; return how it ended."""
        return self.reap() if self._keeper else "gone"

    def reap(self) -> str:
        """End what is left of a child and reap it; return its end in words.

        One that died keeps the end it had. One that only closed its wire ends here, and in either
        case so does what it started.
        """
        if not self._keeper:  # number 0 would be all processes of our group
            return "gone"
        with suppress(ProcessLookupError):
            os.kill(self._keeper, signal.SIGTERM)
        code, fault = self._reaped(time.monotonic() + END_SECONDS), self._fault
        self._keeper, self._pid, self._process, self._fault = 0, 0, None, ""
        self._written = self._drained()
        if self._wire is not None:
            self._wire.close()
            self._wire = None
        if fault:
            return fault
        if code < 0:
            return f"killed (signal {-code}, {SIGNALS.get(-code, '?')})"
        return f"exited with code {code}"

    def last_lines(self) -> list[dict[str, Any]]:
        """Return what the job whose process died has written and nobody has read yet."""
        jobs = self._message["jobs"]
        if not self._written or self._number >= len(jobs):
            return []
        return last_lines(jobs[self._number], self._written)

    def close(self) -> None:
        self.kill()
        for descriptor in self._tokens:
            os.close(descriptor)

    def start_seconds(self, allowed: float) -> float:
        """Return the time for a fresh interpreter to start, until it has answered once."""
        return 0.0 if self._answered else allowed

    def is_over_memory_limit(self) -> bool:
        """Return whether the living child uses more memory than it may."""
        return self._resident() - self._fresh_bytes > self.memory_mb * 2**20

    def _first_or_next_message(self, give_up: float) -> dict[str, Any] | None:
        """Hand a batch over again if its child died before it had read it."""
        is_new, self._is_new = self._is_new, False
        try:
            return self._next_message(give_up)
        except NeverRead:
            if not is_new:
                raise
        self.kill()
        self._hand_over()
        return self._next_message(give_up)

    def _next_message(self, give_up: float) -> dict[str, Any] | None:
        """Return the next message, and skip what still comes of an earlier batch."""
        while self._wire is not None:
            line = self._wire.receive(max(0.0, give_up - time.monotonic()))
            if line is None and self._has_ended():
                line = self._wire.receive(0.0)
                give_up = 0.0
            if line is None:
                break
            message = understood(line)
            self._answered = True
            if message["batch"] == self._batch and message["t"] != "hello":
                return self._checked(message)
            self._skip(message)
        if self._wire is None or give_up == 0.0:
            raise ChildGone
        return None

    def _skip(self, message: dict[str, Any]) -> None:
        if message["t"] == "hello" and not self._pid:  # before any script
            self._pid = message["pid"]
            self._fresh_bytes = self._resident()
        elif message["batch"] >= self._batch:
            raise Nonsense(f"about batch {message['batch']}")

    def _checked(self, message: dict[str, Any]) -> dict[str, Any]:
        """Check that it is about the job whose turn it is, and a time that has been."""
        if message["job"] != self._number or self._lines > MOST_MESSAGES:
            raise Nonsense(f"about job {message['job']}, in its turn {self._number}")
        kind = message["t"]
        if kind == "done":
            self._number, self._lines = self._number + 1, 0
            self._check_time(message["begun"], message["begun"] + message["seconds"])
        elif kind == "log":
            self._lines += 1
            self._check_time(message["at"], message["at"])
        return message

    def _check_time(self, first: float, last: float) -> None:
        if first < self._given - SLACK_SECONDS or last > time.monotonic() + SLACK_SECONDS:
            raise Nonsense(f"about the moment {first:.0f}")

    def _has_ended(self) -> bool:
        """Ask the kernel: a process that the child started may hold its wire open."""
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return False
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._keeper, how) is not None

    def _reaped(self, give_up: float) -> int:
        """Return the keeper's exit code; kill one that does not end by itself."""
        while True:
            pid, status = os.waitpid(self._keeper, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > give_up:
                os.kill(self._keeper, signal.SIGKILL)
            time.sleep(PAUSE_SECONDS)
        code = os.waitstatus_to_exitcode(status)
        if self._process is not None:
            self._process.returncode = code  # it is reaped
        return code

    def _hand_over(self) -> None:
        wire, message = self._ready(), self._message
        self._is_spent, self._number, self._lines, self._written = False, 0, 0, b""
        self._given = time.monotonic()
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
        hide_environment()
        ours, theirs = socket.socketpair()
        self._output, write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._output, False)
        if self._fork:
            self._start_by_fork(ours, theirs, write)
        else:
            self._start_by_exec(theirs, write)
        theirs.close()
        os.close(write)
        self._wire = Wire(ours, LONGEST_LINE_BYTES)

    def _drained(self) -> bytes:
        if self._output < 0:
            return b""
        written = read_some(self._output)
        os.close(self._output)
        self._output = -1
        return written

    def _start_by_fork(self, ours: socket.socket, theirs: socket.socket, write: int) -> None:
        connections.close_all()  # a forked copy of a connection would disturb ours
        beginnings()  # the child finds their modules here
        prepare_notes()
        note_modules()
        gc.freeze()  # a collection in the child would copy every page that the two share
        self._keeper = os.fork()
        if self._keeper == 0:
            os.setpgid(0, 0)
            ours.close()
            output = (self._output, write)
            become_child(theirs, self._tokens[0], output, self.memory_mb * 2**20)

    def _start_by_exec(self, theirs: socket.socket, write: int) -> None:
        """Start a new interpreter, for processes with threads and where fork is not safe."""
        descriptors = [theirs.fileno(), self._tokens[0], self._output, write]
        arguments = [str(number) for number in (*descriptors, self.memory_mb * 2**20)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "queues.children.launch", *arguments],
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            process_group=0,
        )
        self._keeper = self._process.pid

    def _resident(self) -> int:
        if not self._pid:
            return 0
        try:
            with open(f"/proc/{self._pid}/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            return 0
