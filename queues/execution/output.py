"""Turn what a script and its processes write into lines of the run's log.

`print` and `sys.stderr` become lines at once. Descriptors 1 and 2 lead into a pipe, because
subprocesses and libraries in C write there, too; a thread reads it, so that nobody waits for a
reader.
"""

import codecs
import io
import os
import select
import signal
import threading
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable
from contextlib import suppress
from fcntl import ioctl
from termios import FIONREAD

LONGEST_LINE = 4_000
MOST_KEPT = 16 * LONGEST_LINE  # characters of a line that does not end: it is cut anyway
CHUNK = 1 << 16
STACK_BYTES = 256 * 1024  # of the thread, which counts as memory of the script
NOTHING = bytes(4)
Line = Callable[[str, int], None]  # a line, and how many characters of it are left out


class Lines:
    """Put text together to lines. `is_full` says that whole lines need no longer be told apart."""

    def __init__(
        self,
        line: Line,
        skip: Callable[[int, int], None] = lambda lines, characters: None,
        is_full: Callable[[], bool] = lambda: False,
    ) -> None:
        self._line = line
        self._skip = skip
        self._is_full = is_full
        self._parts: list[str] = []  # of a line whose end has not come
        self._size = self._left_out = 0
        self._skips_on = False  # the end of a line that is not kept has not come

    def write(self, text: str) -> None:
        if self._is_full():
            self._leave_out(text)
            return
        first, *others = text.split("\n")
        self._begin(first)
        for other in others:
            self._end_line()
            self._begin(other)

    def end(self) -> None:
        """End a last line that has no end: it belongs to this job, not to the next one."""
        if self._parts:
            self._end_line()
        elif self._skips_on:
            self._skip(1, 0)
        self._skips_on = False

    def _leave_out(self, text: str) -> None:
        """Count the lines that end here, with what was there of the first one."""
        lines = text.count("\n")
        self._skip(lines, len(text) - lines + self._size + self._left_out)
        self._parts, self._size, self._left_out = [], 0, 0
        self._skips_on = not text.endswith("\n")

    def _begin(self, part: str) -> None:
        if part and self._size < MOST_KEPT:
            self._parts.append(part)
            self._size += len(part)
        else:
            self._left_out += len(part)

    def _end_line(self) -> None:
        line, left_out = "".join(self._parts), self._left_out
        self._parts, self._size, self._left_out = [], 0, 0
        self._line(line, left_out)


class Printed(io.TextIOBase):
    """`sys.stdout` or `sys.stderr` of a script."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, lines: Lines, descriptor: int) -> None:
        self._lines = lines
        self._descriptor = descriptor
        self._buffer: io.FileIO | None = None

    @property
    def buffer(self) -> io.FileIO:
        """Return the file for bytes, as scripts know it."""
        if self._buffer is None:
            self._buffer = io.FileIO(self._descriptor, "w", closefd=False)
        return self._buffer

    def fileno(self) -> int:
        return self._descriptor

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._lines.write(text)
        return len(text)

    def end(self) -> None:
        self._lines.end()


class OutputPipe:
    """The read end of the pipe behind descriptors 1 and 2, in the process that runs scripts."""

    def __init__(self, descriptor: int, lines: Lines) -> None:
        self._descriptor = descriptor
        self._lines = lines
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._reading = allocate_lock()
        self._pid = os.getpid()

    def follow(self) -> None:
        """Start the thread; before memory is limited, since its stack is not the script's."""
        runs = allocate_lock()
        runs.acquire()
        before = threading.stack_size(STACK_BYTES)
        start_new_thread(self._follow, (runs,))
        threading.stack_size(before)
        runs.acquire()

    def take(self) -> None:
        """Pass on what was written until now."""
        if self._is_empty() and not self._reading.locked():  # asked in this order: it may read now
            return
        if os.getpid() != self._pid:  # a copy that a script made: the lock may never be free
            return
        with self._reading:
            while self._take_chunk():
                pass

    def _is_empty(self) -> bool:
        """Ask without reading, which costs more after every job."""
        try:
            return ioctl(self._descriptor, FIONREAD, NOTHING) == NOTHING
        except (OSError, ValueError):  # there is none, or a script has closed it
            return True

    def end(self) -> None:
        self.take()
        self._lines.end()

    def _follow(self, runs: LockType) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        bytes(CHUNK)  # the C library reserves memory for each thread when it first asks for some
        runs.release()
        while poll.poll()[0][1] & select.POLLIN:  # else a script has closed it
            with suppress(MemoryError):  # the script has used it up; later there may be some
                self.take()

    def _take_chunk(self) -> bool:
        if not (chunk := read_some(self._descriptor)):
            return False
        self._lines.write(self._decoder.decode(chunk))
        return len(chunk) == CHUNK


def read_some(descriptor: int) -> bytes:
    """Return what is there, without waiting."""
    try:
        return os.read(descriptor, CHUNK)
    except OSError:  # nothing, or it is closed
        return b""
