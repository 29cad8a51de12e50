"""Notes: what a worker's child begins and ends, told to Redis before it is a row.

The outcomes of short jobs are written with their batch. Until then the notes are the only ones
to know which of them have run: a note goes out before each job begins, without waiting for an
answer. Recovery turns the notes of a dead worker into rows. They are hints as bells are, and
carry a code that only who can read the slot's row can make: what others write counts for nothing.
"""

import hashlib
import json
import time
from typing import Any

from redis.connection import AbstractConnection
from redis.exceptions import RedisError

from queues.doorbell import connection

PREFIX = "rq:atributo:notes:"
ANSWER_SECONDS = 0.5
KEPT_SECONDS = 3600  # what nobody came for
LARGEST_END = 16 * 1024  # characters of what is said about one job
LARGEST_NOTES = 64 * 1024  # of a batch; then its rows are written
CODE_SIZE = 16


class Notes:
    """The child's notes about the batch that it plays."""

    def __init__(self) -> None:
        self._connection: AbstractConnection | None = None
        self._facts: dict[str, Any] | None = None
        self._key, self._name = b"", b""
        self._job: tuple[str, int] | None = None
        self._said: list[str] = []
        self._size = self._written = 0

    def open(self, facts: dict[str, Any] | None) -> None:
        """For a batch: the key, the clock and the worker; None when nothing is to be noted."""
        self._facts, self._job, self._said = facts, None, []
        self._size = self._written = 0
        if facts is not None:
            self._key, self._name = bytes.fromhex(facts["key"]), name_of(facts["key"]).encode()

    def begin(self, work: dict[str, Any]) -> bool:
        """Before a job begins; False when that must not be, because nobody would know."""
        if self._facts is None:
            return True
        job, attempt = work["job"]["id"], work["job"]["attempt"]
        begins = f"[{job}, {attempt}, {time.monotonic()}]"
        is_noted = self._first(begins) if self._job is None else self._next(begins)
        if is_noted:
            self._job, self._said, self._size = (job, attempt), [], 0
        return is_noted

    def hear(self, text: str) -> None:
        """A message about the current job, which its end repeats."""
        if self._facts is not None:
            self._said.append(text)
            self._size += len(text)

    def close(self) -> None:
        """The end of the batch's last job; its row is written at once, so nobody waits for it."""
        if self._facts is not None and self._job is not None and self._size <= LARGEST_END:
            self._write(f"{{{self._end()}}}")

    def _first(self, begins: str) -> bool:
        assert self._facts is not None
        clock, worker = json.dumps(self._facts["clock"]), json.dumps(self._facts["worker"])
        note = self._signed(f'{{"clock": {clock}, "worker": {worker}, "begins": {begins}}}')
        is_noted = self._ask(note) or self._ask(note)  # an old connection may have broken
        if not is_noted and not self._facts["required"]:
            self._facts, is_noted = None, True
        return is_noted

    def _next(self, begins: str) -> bool:
        if self._size > LARGEST_END or self._written > LARGEST_NOTES:
            return False
        return self._write(f'{{{self._end()}, "begins": {begins}}}')

    def _end(self) -> str:
        job, attempt = self._job or ("0", 0)
        return f'"ended": [{job}, {attempt}], "said": [{", ".join(self._said)}]'

    def _write(self, text: str) -> bool:
        """Without waiting; only beside what is there, so that nothing is left without an end."""
        self._written += len(text)
        return self._send(command(b"RPUSHX", self._name, self._signed(text)))

    def _ask(self, note: bytes) -> bool:
        """Begin anew, and know that Redis takes what is noted now."""
        asked = [
            command(b"DEL", self._name),
            command(b"CLIENT", b"REPLY", b"ON"),
            command(b"RPUSH", self._name, note),
            command(b"CLIENT", b"REPLY", b"OFF"),
            command(b"EXPIRE", self._name, str(KEPT_SECONDS).encode()),
        ]
        try:
            if not self._send(b"".join(asked)) or self._connection is None:
                return False
            self._connection.read_response()
            return self._connection.read_response() == 1
        except RedisError:
            self._hang_up()
            return False

    def _send(self, data: bytes) -> bool:
        try:
            self._connected().send_packed_command([data], check_health=False)
        except RedisError:
            self._hang_up()
            return False
        return True

    def _connected(self) -> AbstractConnection:
        """No answer is ever left unread: the kernel delivers what a killed process has sent."""
        if self._connection is None:
            fresh = connection(ANSWER_SECONDS).connection_pool.get_connection()
            fresh.send_packed_command([command(b"CLIENT", b"REPLY", b"OFF")])
            self._connection = fresh
        return self._connection

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.disconnect()
            self._connection = None

    def _signed(self, text: str) -> bytes:
        data = text.encode()
        return code_of(self._key, data) + data


def name_of(key: str) -> str:
    """Where the notes are: known to whoever looks into Redis, while the key is not."""
    return PREFIX + hashlib.sha256(key.encode()).hexdigest()[:32]


def code_of(key: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(data, key=key, digest_size=CODE_SIZE).digest()


def command(*words: bytes) -> bytes:
    """As Redis reads it; the client's own packing takes longer than many a job."""
    parts = [b"*%d\r\n" % len(words)]
    parts += [b"$%d\r\n%b\r\n" % (len(word), word) for word in words]
    return b"".join(parts)
