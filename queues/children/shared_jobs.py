"""The child's side of a shared process: many jobs at once, as tasks of a loop or in threads.

Each job has its own context variables, which say whose log a printed line belongs to.
"""

import asyncio
import ctypes
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from json import JSONEncoder, loads
from typing import Any

from django.db import close_old_connections

from atributo_site.core.text import written
from queues.children.protocol import ChildGone, Wire
from queues.execution.execution import Execution, TimedOut, allow_calls_in_loops
from queues.execution.loader import Services
from queues.execution.output import Lines, Printed

STACK_BYTES = 512 * 1024
M_ARENA_MAX = -8  # of glibc
_encode = JSONEncoder(ensure_ascii=False).encode
_current: ContextVar["SharedJob | None"] = ContextVar("the job that runs here", default=None)


@dataclass(eq=False)
class SharedJob:
    number: int  # by which the parent knows it
    execution: Execution
    printed: list[Printed] = field(default_factory=list)
    task: "asyncio.Future[Any] | None" = None
    thread: int = 0  # while it runs in one

    def print(self, text: str, left_out: int) -> None:
        line = {"t": "log", "level": "print", "text": text, "left_out": left_out}
        self.execution.emit(line)


class Routed(Printed):
    """`sys.stdout` or `sys.stderr` of many jobs."""

    def __init__(self, descriptor: int, service_log: int) -> None:
        super().__init__(Lines(lambda text, _: None), descriptor)
        self._service_log = service_log

    def write(self, text: str) -> int:
        job = _current.get()
        if job is None:  # a thread that a script started, or ours
            os.write(self._service_log, text.encode(errors="replace"))
            return len(text)
        return job.printed[self._descriptor - 1].write(text)


class SharedJobs:
    def __init__(self, wire: Wire, service_log: int, threads: int) -> None:
        self.wire = wire
        self._service_log = service_log
        self._threads = threads
        self._jobs: dict[int, SharedJob] = {}
        self._services = Services()
        self._lock = threading.Lock()  # of the wire
        self._stopping = threading.Lock()  # no job ends while it is told to stop

    def serve(self) -> None:
        """Run jobs until the parent closes the wire."""
        allow_calls_in_loops()
        _make_threads_small()
        sys.stdout, sys.stderr = Routed(1, self._service_log), Routed(2, self._service_log)
        self._send(0, {"t": "hello", "pid": os.getpid()})
        asyncio.run(self._serve())
        os._exit(0)  # threads may still run

    async def _serve(self) -> None:
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="job")
        self._over = asyncio.Event()
        asyncio.get_running_loop().add_reader(self.wire.sock.fileno(), self._read)
        self._read()  # what came together with the first line
        await self._over.wait()

    def _read(self) -> None:
        try:
            while (line := self.wire.receive(0.0)) is not None:
                self._obey(loads(line))
        except ChildGone:
            self._over.set()

    def _obey(self, message: dict[str, Any]) -> None:
        if "jobs" in message:
            close_old_connections()  # what broke meanwhile is no failure of the next script
        for number, work in message.get("jobs", []):
            self._begin(number, work)
        if "stop" in message:
            self._stop(message["stop"])

    def _begin(self, number: int, work: dict[str, Any]) -> None:
        job = SharedJob(number, Execution(work, self._services, lambda m: self._send(number, m)))
        full = job.execution.is_full
        lines = [Lines(job.print, job.execution.skip, full) for _ in range(2)]
        job.printed = [Printed(each, descriptor) for descriptor, each in enumerate(lines, 1)]
        self._jobs[number] = job
        context = copy_context()
        context.run(_current.set, job)
        if self._is_async(work):
            ran = self._run_async(job)
            job.task = asyncio.get_running_loop().create_task(ran, context=context)
        else:
            self._pool.submit(context.run, self._run_in_thread, job)

    def _is_async(self, work: dict[str, Any]) -> bool:
        """Load the script, if that is possible; its run says why it is not."""
        try:
            service = self._services.at(work["mount"], work["revision"])
            return iscoroutinefunction(service.function(work["script"]))
        except BaseException:  # a script may raise anything when it is read
            return False

    async def _run_async(self, job: SharedJob) -> None:
        self._end(job, await job.execution.run_async())

    def _run_in_thread(self, job: SharedJob) -> None:
        job.thread = threading.get_ident()
        close_old_connections()
        try:
            ended = job.execution.run()
            with self._stopping:
                job.thread = 0
                _raise_in(threading.get_ident(), None)
        except TimedOut as error:  # it came when the script had ended
            job.thread = 0
            ended = job.execution.failed(error)
        self._end(job, ended)

    def _end(self, job: SharedJob, ended: dict[str, Any]) -> None:
        for printed in job.printed:
            printed.end()
        job.execution.tell_rest()
        job.execution.fall_silent()
        self._jobs.pop(job.number, None)
        self._send(job.number, {**ended, "spent": ""})

    def _stop(self, number: int) -> None:
        """Raise TimedOut in one job; the others go on."""
        job = self._jobs.get(number)
        if job is None or job.execution.is_ending:
            return
        text = f"timed out after {written(job.execution.work['timeout_ms'] or 0)}"
        job.execution.stop_error = TimedOut(text)
        if job.task is not None:
            job.task.cancel()
            return
        with self._stopping:
            if job.thread:
                named = type("TimedOut", (TimedOut,), {"__str__": lambda self: text})
                _raise_in(job.thread, named)

    def _send(self, number: int, message: dict[str, Any]) -> None:
        text = _encode({**message, "batch": 0, "job": number})
        with self._lock:
            self.wire.send_text(text)


def _make_threads_small() -> None:
    """Let threads reserve little: what they reserve counts as memory of the scripts."""
    threading.stack_size(STACK_BYTES)
    with suppress(AttributeError):  # the C library has no such call
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise it in a thread when that next runs Python code; None takes it back."""
    given = ctypes.py_object() if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), given)
