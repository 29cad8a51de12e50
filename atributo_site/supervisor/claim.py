"""Claim: one supervisor per state folder, and a word on who has it."""

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from allocation.errors import AtributoError


class AlreadyRunning(AtributoError):
    status_code = 409
    code = "already_running"


class Claim:
    """An advisory lock that the system frees with the process, however it ends."""

    def __init__(self, var_dir: Path) -> None:
        self._file = open(var_dir / "up.lock", "a+")  # noqa: SIM115 - held on
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = self._read()
            self.close()
            raise AlreadyRunning(_who_runs(who, var_dir)) from None

    def note(self, **facts: Any) -> None:
        self._file.seek(0)
        self._file.truncate()
        json.dump({"pid": os.getpid(), **facts}, self._file)
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def _read(self) -> dict[str, Any]:
        self._file.seek(0)
        text = self._file.read()
        return json.loads(text) if text else {}


def _who_runs(facts: dict[str, Any], var_dir: Path) -> str:
    process = facts.get("pid", "unknown, still starting")
    address = f" at {facts['address']}" if "address" in facts else ""
    return f"Atributo already runs on {var_dir}{address} (process {process}). Stop it first."
