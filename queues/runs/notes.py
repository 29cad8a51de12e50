"""Note in Redis what a worker's child begins and ends, before it is in the database.

The results of short jobs are written with their batch. Until then only the notes tell which of them
have run: a note is sent before each job begins, without waiting for an answer. Recovery turns the
notes of a dead worker into rows. Notes are hints as bells are. They carry a code that only a reader
of the slot's row can make, so that notes of others are ignored.
"""

import hashlib
import json
import time
from typing import Any

from redis.exceptions import RedisError

from queues.runs.doorbell import address, connection

PREFIX = "rq:atributo:notes:"
ANSWER_SECONDS = 1.0
KEPT_SECONDS = 3600  # for notes that nobody reads
LARGEST_END = 16 * 1024  # characters of the messages about one job
LARGEST_NOTES = 64 * 1024  # of a batch; then its rows are written
CODE_SIZE = 16


_of_children: dict[str, Any] = {}


def prepare() -> None:
    """Make the connection of children before a fork, without connecting: they share its memory."""
    if address() not in _of_children:
        _of_children.clear()
        _of_children[address()] = _made()


def _made() -> Any:
    return connection(ANSWER_SECONDS).connection_pool.make_connection()


class Notes:
    """The child's notes about its current batch."""

    def __init__(self) -> None:
        self._connection: Any = None  # of the client: it knows how to reach Redis
        self._socket: Any = None  # its socket, since the client takes longer than many a job
        self._facts: dict[str, Any] | None = None
        self._name, self._head = b"", b""
        self._code = hashlib.blake2b()
        self._job: tuple[str, int] | None = None
        self._messages: list[str] = []
        self._size = self._written = 0

    def open(self, facts: dict[str, Any] | None) -> None:
        """Begin the notes of a batch with key, clock and worker; None notes nothing."""
        self._facts, self._job, self._messages = facts, None, []
        self._size = self._written = 0
        if facts is not None:
            self._name = name_of(facts["key"]).encode()
            self._code = hashlib.blake2b(key=bytes.fromhex(facts["key"]), digest_size=CODE_SIZE)
            self._head = b"*3\r\n$6\r\nRPUSHX\r\n$%d\r\n%b\r\n$" % (len(self._name), self._name)

    def begin(self, work: dict[str, Any]) -> bool:
        """Note that a job begins; False when it must not begin, because nobody would know."""
        if self._facts is None:
            return True
        job, attempt = work["job"]["id"], work["job"]["attempt"]
        begins = f"[{job}, {attempt}, {time.monotonic()}]"
        is_noted = self._first(begins) if self._job is None else self._next(begins)
        if is_noted:
            self._job, self._messages, self._size = (job, attempt), [], 0
        return is_noted

    def add_message(self, text: str) -> None:
        """Keep a message about the current job, which the note of its end repeats."""
        if self._facts is not None:
            self._messages.append(text)
            self._size += len(text)

    def close(self) -> None:
        """Note the end of the batch's last job without waiting: its row is written at once."""
        if self._facts is not None and self._job is not None and self._size <= LARGEST_END:
            self._write(f"{{{self._end()}}}")

    def descriptors(self) -> set[int]:
        """Return the descriptor of its connection, while it has one."""
        return set() if self._socket is None else {self._socket.fileno()}

    def _first(self, begins: str) -> bool:
        assert self._facts is not None
        clock, worker = json.dumps(self._facts["clock"]), json.dumps(self._facts["worker"])
        note = self._signed(f'{{"clock": {clock}, "worker": {worker}, "begins": {begins}}}')
        was_connected = self._connection is not None  # which may have broken meanwhile
        is_noted = self._ask(note) or (was_connected and self._ask(note))
        if not is_noted and not self._facts["required"]:
            self._facts, is_noted = None, True
        return is_noted

    def _next(self, begins: str) -> bool:
        if self._size > LARGEST_END or self._written > LARGEST_NOTES:
            return False
        return self._write(f'{{{self._end()}, "begins": {begins}}}')

    def _end(self) -> str:
        job, attempt = self._job or ("0", 0)
        return f'"ended": [{job}, {attempt}], "said": [{", ".join(self._messages)}]'

    def _write(self, text: str) -> bool:
        """Send a note without waiting, and only if there are others: each needs its first note."""
        self._written += len(text)
        note = self._signed(text)
        data = b"%b%d\r\n%b\r\n" % (self._head, len(note), note)
        try:
            is_whole = self._socket is not None and self._socket.send(data) == len(data)
        except OSError:  # broken, or Redis reads no more and its buffer is full
            is_whole = False
        if not is_whole:
            self._hang_up()
        return is_whole

    def _ask(self, note: bytes) -> bool:
        """Begin the notes anew, and wait for Redis to take the first one."""
        asked = [
            command(b"DEL", self._name),
            command(b"CLIENT", b"REPLY", b"ON"),
            command(b"RPUSH", self._name, note),
            command(b"CLIENT", b"REPLY", b"OFF"),
            command(b"EXPIRE", self._name, str(KEPT_SECONDS).encode()),
        ]
        try:
            redis = self._connected()
            redis.send_packed_command([b"".join(asked)], check_health=False)
            redis.read_response()
            is_taken = redis.read_response() == 1
            redis._sock.setblocking(False)  # from here on nobody waits
        except (RedisError, OSError):
            self._hang_up()
            return False
        self._socket = redis._sock
        return is_taken

    def _connected(self) -> Any:
        """Return a connection without replies, so that a killed process leaves none unread."""
        if self._connection is None:
            fresh = _of_children.pop(address(), None) or _made()
            fresh.connect()
            fresh.send_packed_command([command(b"CLIENT", b"REPLY", b"OFF")])
            self._connection = fresh
        self._connection._sock.settimeout(ANSWER_SECONDS)
        return self._connection

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.disconnect()
            self._connection = self._socket = None

    def _signed(self, text: str) -> bytes:
        code, data = self._code.copy(), text.encode()
        code.update(data)
        return code.digest() + data


def name_of(key: str) -> str:
    """Return where the notes are; whoever looks into Redis knows this name, but not the key."""
    return PREFIX + hashlib.sha256(key.encode()).hexdigest()[:32]


def code_of(key: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(data, key=key, digest_size=CODE_SIZE).digest()


def command(*words: bytes) -> bytes:
    """Encode a command as Redis reads it."""
    parts = [b"*%d\r\n" % len(words)]
    parts += [b"$%d\r\n%b\r\n" % (len(word), word) for word in words]
    return b"".join(parts)
