"""The line of those who wait to write to one SQLite file: the first come, first.

A ticket is a lock on one byte of a file beside the database. The kernel frees it with the process,
however that ends, so the dead keep nobody waiting. The locks belong to the open file: the threads
of a process exclude each other, too.
"""

import fcntl
import os
import struct
from weakref import WeakSet

SUFFIX = "-turns"
FLOCK = struct.Struct("hhqqi4x")  # type, whence, start, length, process
NUMBER = struct.Struct("q")
GATE, FIRST_TICKET = 0, 8  # bytes of the file; neighbours with one owner would be one lock
HAS_LOCKS = hasattr(fcntl, "F_OFD_SETLK")
IN_MEMORY = (":memory:", "file:")
THE_GATE = FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, GATE, 1, 0)
EVERYTHING = FLOCK.pack(fcntl.F_UNLCK, os.SEEK_SET, 0, 0, 0)


class Line:
    """The place of one connection. Without a usable file it is always the first."""

    def __init__(self, database: str) -> None:
        self._file = _opened(database)
        self._ticket = FIRST_TICKET
        _known.add(self)

    def join(self) -> None:
        """Take the next ticket. The stored number is a hint: the lock makes the ticket ours."""
        self._ticket = self._next()
        while not self._lock(self._ticket):
            self._ticket += 1
        if self._file is not None and self._next() <= self._ticket:
            os.pwrite(self._file, NUMBER.pack(self._ticket + 1), 0)

    def before(self) -> int:
        """Return about how many come first; the kernel names the one that came first."""
        length = self._ticket - FIRST_TICKET
        first = self._locked_by_others(FIRST_TICKET, length) if length else None
        return 0 if first is None else max(1, self._ticket - first)

    def close_gate(self) -> None:
        """Make newcomers join the line before they ask SQLite."""
        self._lock(GATE)

    def is_gate_closed(self) -> bool:
        """Ask the kernel, by one call: every write asks."""
        if self._file is None:
            return False
        return fcntl.fcntl(self._file, fcntl.F_OFD_GETLK, THE_GATE)[:2] != EVERYTHING[:2]

    def leave(self) -> None:
        """Give back the ticket and open the gate."""
        if self._file is not None:
            fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, EVERYTHING)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    __del__ = close

    def _next(self) -> int:
        stored = b"" if self._file is None else os.pread(self._file, NUMBER.size, 0)
        return NUMBER.unpack(stored)[0] if len(stored) == NUMBER.size else FIRST_TICKET

    def _lock(self, byte: int) -> bool:
        if self._file is None:
            return True
        wanted = FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0)
        try:
            fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, wanted)
        except BlockingIOError:
            return False
        return True

    def _locked_by_others(self, start: int, length: int) -> int | None:
        """Return a byte of these that another connection has locked."""
        if self._file is None:
            return None
        asked = FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
        kind, _, byte, _, _ = FLOCK.unpack(fcntl.fcntl(self._file, fcntl.F_OFD_GETLK, asked))
        return None if kind == fcntl.F_UNLCK else byte


_known: WeakSet[Line] = WeakSet()


def _opened(database: str) -> int | None:
    if not HAS_LOCKS or database.startswith(IN_MEMORY):
        return None
    try:
        return os.open(f"{database}{SUFFIX}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:  # a folder that may only be read
        return None


def _leave_to_parent() -> None:
    """Close the copies of a forked child, which would keep the tickets of a dead parent."""
    for line in list(_known):
        line.close()


os.register_at_fork(after_in_child=_leave_to_parent)
