"""The child: a warm process that executes scripts, one after the other, for its parent."""

import io
import json
import math
import os
import resource
import signal
import socket
import sys
import threading
import time
from typing import Any

from django.conf import settings
from django.db import close_old_connections, connections
from django.utils.module_loading import import_string

from queues.execution import Execution, TimedOut
from queues.mortality import die_with_parent
from queues.notes import Notes
from queues.scripts import Services
from queues.wire import ChildGone, Wire

STOP_SIGNAL = signal.SIGUSR1


class Child:
    def __init__(self, wire: Wire, tokens: int) -> None:
        self.wire = wire
        self.tokens = tokens
        self.services = Services()
        self.notes = Notes()
        self._batch = 0
        self._running: Execution | None = None
        self._printed = Printed(self)
        self._talking = threading.Lock()
        self._talker = 0
        self._is_late = False

    def serve(self) -> None:
        """Until the parent closes the wire."""
        signal.signal(STOP_SIGNAL, self._stop)
        while True:
            try:
                message = self.wire.receive()
            except ChildGone:
                return
            if message is not None:
                self._batch = message["batch"]
                close_old_connections()  # what broke meanwhile is no failure of the next script
                self.notes.open(message["notes"])
                self.play(message["jobs"], message["deadline"], message["until"])
                self.notes.close()
                if message["leave"]:
                    connections.close_all()

    def play(self, jobs: list[dict[str, Any]], deadline: float, until: float = math.inf) -> None:
        """Run the jobs in order, none when the slot may be another's or nobody would know of it;
        none after the first is begun late or without a token."""
        for number, work in enumerate(jobs):
            is_late = time.monotonic() >= (min(deadline, until) if number else until)
            if is_late or (number and not self._may_go_on()):
                self._send({"t": "stopped"})
                return
            if not self.notes.begin(work):
                self._send({"t": "stopped", "unnoted": number == 0})
                return
            self._running = Execution(work, self.services, self._send)
            sys.stdout = self._printed  # whatever the job before did to it
            ended = self._running.run()
            self._printed.end()
            self._running.fall_silent()
            self._send(ended)
            self._running = None

    def print(self, text: str) -> None:
        if self._running is not None:
            self._running.emit({"t": "log", "level": "print", "text": text})

    def _may_go_on(self) -> bool:
        """Take the token for the next job, unless the parent was faster."""
        try:
            return os.read(self.tokens, 1) != b""
        except BlockingIOError:
            return False

    def _send(self, message: dict[str, Any]) -> None:
        """A whole line, whoever else talks and whatever interrupts: half of one garbles two."""
        text = json.dumps({**message, "batch": self._batch})
        if self._running is not None:
            self.notes.hear(text)
        with self._talking:
            self._talker = threading.get_ident()
            self.wire.send_text(text)
            self._talker = 0
        if self._is_late and threading.current_thread() is threading.main_thread():
            self._is_late = False
            self._stop()

    def _stop(self, *_: Any) -> None:
        """Signals are heard by the main thread; one that comes while it talks waits."""
        if self._running is None or self._running.is_ending:
            return
        if self._talker == threading.main_thread().ident:
            self._is_late = True
            return
        raise TimedOut(f"timed out after {self._running.work['timeout_ms']} ms")


class Printed(io.TextIOBase):
    """What a script prints becomes log lines."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._rest = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._child.print(line)
        return len(text)

    def end(self) -> None:
        """A last line without its end belongs to this job, not to the next one."""
        if self._rest:
            self._child.print(self._rest)
            self._rest = ""


def become_child(sock: socket.socket, tokens: int, memory_bytes: int) -> None:
    """Take over a process that was forked or started for this, and never return."""
    code = 1
    try:
        die_with_parent(signal.SIGKILL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _limit_memory(memory_bytes)
        for path in settings.SCRIPT_PROCESS_BEGINS:
            import_string(path)()
        Child(Wire(sock), tokens).serve()
        code = 0
    finally:
        os._exit(code)


def _limit_memory(more_bytes: int) -> None:
    """An allocation beyond the limit fails inside the script, as MemoryError."""
    try:
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:  # not Linux: the parent still watches
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)  # only root may raise it
    wanted = now + more_bytes
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
