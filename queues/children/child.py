"""The child: a warm process that executes scripts, one after the other, for its parent.

The functions that it needs are bound here by name, before any script can replace them.
"""

import faulthandler
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from json import JSONEncoder, loads
from os import getpid
from time import monotonic
from typing import Any, NoReturn

from django.conf import settings
from django.db import close_old_connections, connections
from django.utils.module_loading import import_string

from atributo_site.core.forking import die_with_parent
from atributo_site.core.text import written
from queues.children.protocol import ChildGone, Wire
from queues.children.shared_jobs import SharedJobs
from queues.execution.execution import Execution, TimedOut
from queues.execution.loader import Services
from queues.execution.output import Lines, OutputPipe, Printed
from queues.runs.notes import Notes
from queues.sandbox import sealing
from queues.sandbox.ancestors import protect_ancestors
from queues.sandbox.offspring import adopt_orphans, keep
from queues.sandbox.surroundings import Surroundings

STOP_SIGNAL = signal.SIGUSR1
_encode = JSONEncoder(ensure_ascii=False).encode


class Child:
    def __init__(
        self,
        wire: Wire,
        tokens: int,
        surroundings: Surroundings,
        output: int = -1,
        service_log: int = 2,
    ) -> None:
        self.wire = wire
        self.tokens = tokens
        self._surroundings = surroundings
        self.services = Services()
        self.notes = Notes()
        self._batch = 0
        self._number = 0
        self._running: Execution | None = None
        self._stdout = Printed(self._lines(), 1)
        self._stderr = Printed(self._lines(), 2)
        self.output = OutputPipe(output, self._lines())
        self._service_log = service_log  # for what is written while no script runs
        self._talking = threading.Lock()
        self._talker = 0
        self._is_late = False
        self._pid = getpid()

    def serve(self) -> None:
        """Run batches until the parent closes the wire."""
        signal.signal(STOP_SIGNAL, self._stop)
        self._surroundings.note(self.notes.descriptors)
        self._send({"t": "hello", "pid": self._pid})
        while True:
            try:
                line = self.wire.receive()
            except ChildGone:
                return
            if line is not None:
                message = loads(line)
                if "shared" in message:
                    SharedJobs(self.wire, self._service_log, message["shared"]).serve()
                    return
                self._batch = message["batch"]
                close_old_connections()  # what broke meanwhile is no failure of the next script
                self.notes.open(message["notes"])
                self.run_batch(message["jobs"], message["deadline"], message["until"])
                self.notes.close()
                if message["leave"]:
                    connections.close_all()

    def run_batch(
        self, jobs: list[dict[str, Any]], deadline: float, until: float = math.inf
    ) -> None:
        """Run the jobs in order.

        None begins when the slot may be another's or nobody would know of it; none after the first
        begins late or without a token.
        """
        for number, work in enumerate(jobs):
            self._number = number
            is_late = monotonic() >= (min(deadline, until) if number else until)
            if is_late or (number and not self._may_go_on()):
                self._send_stopped()
                return
            if not self.notes.begin(work):
                self._send_stopped(unnoted=number == 0)
                return
            ended = self._run(work)
            is_last = number + 1 == len(jobs) or jobs[number + 1]["mount"] != work["mount"]
            spent = self._surroundings.restored(wholly=is_last)
            self._send({**ended, "spent": spent})
            self._running = None
            if spent:  # no job follows in this process
                return

    def _lines(self) -> Lines:
        return Lines(self._print, self._skip, self._is_full)

    def _print(self, text: str, left_out: int) -> None:
        if self._running is not None:
            line = {"t": "log", "level": "print", "text": text, "left_out": left_out}
            self._running.emit(line)
        else:
            os.write(self._service_log, f"{text}\n".encode(errors="replace"))

    def _skip(self, lines: int, characters: int) -> None:
        if self._running is not None:
            self._running.skip(lines, characters)

    def _is_full(self) -> bool:
        return self._running is not None and self._running.is_full()

    def _run(self, work: dict[str, Any]) -> dict[str, Any]:
        if self._surroundings.belong_to(work["mount"]):
            self.services.unload()
        self._running = Execution(work, self.services, self._send)
        sys.stdout, sys.stderr = self._stdout, self._stderr  # whatever the job before did
        ended = self._running.run()
        for stream in (self._stdout, self._stderr, self.output):
            stream.end()
        self._running.tell_rest()
        self._running.fall_silent()
        return ended

    def _send_stopped(self, **facts: bool) -> None:
        spent = self._surroundings.restored(wholly=True)
        self._send({"t": "stopped", "spent": spent, **facts})

    def _may_go_on(self) -> bool:
        """Take the token for the next job, unless the parent was faster."""
        try:
            return os.read(self.tokens, 1) != b""
        except BlockingIOError:
            return False

    def _send(self, message: dict[str, Any]) -> None:
        """Send a whole line, whoever else sends or interrupts: half a line would garble two."""
        if getpid() != self._pid:
            return self._speak_as_copy(message)
        message["batch"], message["job"] = self._batch, self._number
        text = _encode(message)
        if self._running is not None:
            self.notes.add_message(text)
        with self._talking:
            self._talker = threading.get_ident()
            self.wire.send_text(text)
            self._talker = 0
        if self._is_late and threading.get_ident() == threading.main_thread().ident:
            self._is_late = False
            self._stop()
        return None

    def _speak_as_copy(self, message: dict[str, Any]) -> None:
        """Let a copy that a script made by fork only log: it has no wire and runs no jobs."""
        if message["t"] != "log":
            os._exit(1)
        os.write(2, f"{message['text']}\n".encode())

    def _stop(self, *_: Any) -> None:
        """Raise TimedOut in the main thread; while that sends a line, wait for its end."""
        if self._running is None or self._running.is_ending:
            return
        if self._talker == threading.main_thread().ident:
            self._is_late = True
            return
        raise TimedOut(f"timed out after {written(self._running.work['timeout_ms'] or 0)}")


def become_child(
    sock: socket.socket, tokens: int, output: tuple[int, int], memory_bytes: int
) -> NoReturn:
    """Take over a process that was forked or started for this, and never return.

    It becomes the keeper of a second one, in which the scripts run. `output` is a pipe for what
    they write to descriptors 1 and 2.
    """
    owner = os.getppid()

    def work() -> None:
        _work(sock, tokens, output, memory_bytes, owner)

    def forget() -> None:
        sock.close()
        for descriptor in (tokens, *output):
            os.close(descriptor)

    try:
        sealing.hide_environment()
        keep(work, forget)
    finally:
        os._exit(1)


def beginnings() -> list[Callable[[int], None]]:
    """Return what a process calls before its first script; call this before a fork, too.

    Children then share the memory of what these import, instead of 3 MB in each of them.
    """
    return [import_string(path) for path in getattr(settings, "SCRIPT_PROCESS_BEGINS", ())]


def _work(
    sock: socket.socket, tokens: int, output: tuple[int, int], memory_bytes: int, owner: int
) -> NoReturn:
    code = 1
    try:
        os.setpgid(0, 0)
        die_with_parent(signal.SIGKILL)
        adopt_orphans()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for begin in beginnings():
            begin(owner)
        service_log = os.dup(2)
        child = Child(Wire(sock), tokens, Surroundings(), output[0], service_log)
        sealing.let_go_of_descriptors({sock.fileno(), tokens, output[0], output[1], service_log})
        sealing.forget_credentials()
        protect_ancestors(owner)
        sealing.be_killed_first()
        _redirect(output[1])
        child.output.follow()
        sealing.limit_memory(memory_bytes)
        child.serve()
        code = 0
    finally:
        os._exit(code)


def _redirect(output: int) -> None:
    """Let descriptors 1 and 2 lead into the pipe; a crash tells there where it happened."""
    for number in (1, 2):
        os.dup2(output, number)
    os.close(output)
    faulthandler.enable(2)
