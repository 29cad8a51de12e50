"""Keep worker numbers in a file beside SQLite, which a caller's roll back cannot take back.

SQLite has one writer. Inside a caller's transaction a number and its mark can only be stored
in that transaction, and ids that were handed out would be made again after a rollback. So
each row is copied into the file, and the newer of the two counts. Callers hold the write lock
of the database, so nobody else reads or writes the file at that time.
"""

import errno
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import OperationalError, connections

from allocation.models import IdNumber

SUFFIX = "-ids"
RECORD_BYTES = 2048  # a holder's name has up to 255 characters
FIELDS = ("holder", "token", "high_water_ms", "ahead_ms", "set_back_ms")


def keep(number: int, using: str) -> None:
    """Copy the row as it is in this transaction."""
    if connections[using].vendor != "sqlite":
        return  # PostgreSQL stores it on a separate connection
    row = IdNumber.objects.using(using).get(pk=number)
    record = {name: getattr(row, name) for name in FIELDS}
    record["expires_at"] = row.expires_at.isoformat() if row.expires_at else None
    text = json.dumps(record).encode().ljust(RECORD_BYTES)
    with _file(using) as file:
        if os.pwrite(file, text, number * RECORD_BYTES) < RECORD_BYTES:  # the disk is full now
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def recalled(rows: Iterable[IdNumber], using: str) -> list[IdNumber]:
    """Return the rows as they would be if no transaction had been rolled back."""
    rows = list(rows)
    if connections[using].vendor == "sqlite":
        with _file(using) as file:
            for row in rows:
                _recall(row, os.pread(file, RECORD_BYTES, row.pk * RECORD_BYTES))
    return rows


def _recall(row: IdNumber, text: bytes) -> None:
    try:
        record = json.loads(text.strip(b"\0") or "null")
    except ValueError:  # torn by a power failure: the row is what SQLite has kept
        return
    if record is None or _age(record) <= (row.token, row.high_water_ms):
        return
    for name in FIELDS:
        setattr(row, name, record[name])
    expires_at = record["expires_at"]
    row.expires_at = datetime.fromisoformat(expires_at) if expires_at else None


def _age(record: dict[str, Any]) -> tuple[int, int]:
    return record["token"], record["high_water_ms"]


def path_of(using: str) -> str:
    return f"{connections[using].settings_dict['NAME']}{SUFFIX}"


@contextmanager
def _file(using: str) -> Iterator[int]:
    """Open the file, which is a part of the database: its failures are failures of that."""
    path = path_of(using)
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            yield file
        finally:
            os.close(file)
    except OSError as error:
        raise OperationalError(f"{path}: {error.strerror}") from error
