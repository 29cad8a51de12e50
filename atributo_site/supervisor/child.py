"""Run one supervised program: start it again with back-off, and keep its log file small."""

import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from atributo_site.core import forking

LARGEST_LOG_BYTES = 10 * 1024 * 1024
FIRST_BACKOFF_SECONDS = 0.2
LONGEST_BACKOFF_SECONDS = 10.0
STEADY_AFTER_SECONDS = 30.0  # a program that ran this long starts again at once


def keep_small(path: Path, largest: int = LARGEST_LOG_BYTES) -> None:
    """Copy and empty a log file: its program would go on writing to a renamed one."""
    if path.exists() and path.stat().st_size > largest:
        older = path.with_suffix(".log.1")
        try:
            shutil.copyfile(path, older)
        except OSError:  # on a full disk the older lines go, and the site stays
            older.unlink(missing_ok=True)
        os.truncate(path, 0)


def backoff_seconds(quick_deaths: int) -> float:
    """Double the delay for every earlier death in a row that came soon after the start."""
    return min(FIRST_BACKOFF_SECONDS * 2 ** min(quick_deaths, 20), LONGEST_BACKOFF_SECONDS)


@dataclass
class Child:
    name: str
    argv: Sequence[str]
    log_path: Path
    environ: dict[str, str] = field(default_factory=dict)
    pass_fds: tuple[int, ...] = ()
    restarts: int = 0
    restarted_at: str | None = None
    last_exit: str = ""
    _why: str = ""
    _process: subprocess.Popen[bytes] | None = None
    _started_at: float = 0.0
    _start_again_at: float = math.inf
    _quick_deaths: int = 0

    def start(self, monotonic: float) -> None:
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", forking.__file__, str(os.getpid()), *self.argv],
                env={**os.environ, **self.environ},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=self.pass_fds,
                process_group=0,  # Ctrl-C reaches the supervisor alone, which stops all in order
            )
        self._started_at = monotonic
        self._why = ""

    def watch(self, monotonic: float, died: Callable[["Child"], None]) -> None:
        """Look once: notice a death, start again when it is time, and keep the log small."""
        keep_small(self.log_path)
        if self._process and self._process.poll() is not None:
            self._note_death(self._process.returncode, monotonic)
            died(self)
        if self._process is None and monotonic >= self._start_again_at:
            self.restarts += 1
            self.restarted_at = datetime.now(UTC).isoformat()
            self.start(monotonic)

    def signal(self, number: int) -> None:
        if self._process and self._process.poll() is None:
            os.killpg(self._process.pid, number)

    def end(self, why: str) -> None:
        """Ask it to stop; `why` is reported with its end."""
        self._why = f"{why}, "
        self.signal(signal.SIGTERM)

    def ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def facts(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "pid": self.pid,
            "state": "running" if self.pid else "waiting",
            "restarts": self.restarts,
            "restarted_at": self.restarted_at,
            "last_exit": self.last_exit,
        }

    def _note_death(self, code: int, monotonic: float) -> None:
        if monotonic - self._started_at >= STEADY_AFTER_SECONDS:
            self._quick_deaths = 0
        self._start_again_at = monotonic + backoff_seconds(self._quick_deaths)
        self._quick_deaths += 1
        self._process = None
        self.last_exit = self._why + describe_exit(code)


def describe_exit(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    return f"killed by {signal.Signals(-code).name}"
