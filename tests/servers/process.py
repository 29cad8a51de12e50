"""Run a real process of the project, with its output in a file, and end it for sure."""

import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil

from tests.servers.guard import Guard
from tests.servers.waiting import wait_until

ROOT = Path(__file__).parents[2]
TERMINATE_SECONDS = 60
MARK = "ATRIBUTO_TEST_PROCESS"


def has_ended(pid):
    """Return whether it has ended, also when it is still a zombie."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


class ManagedProcess:
    """Run `manage.py <arguments>`; everything it starts is killed with it, in any group."""

    def __init__(self, arguments, environment):
        self.arguments = [str(argument) for argument in arguments]
        self._directory = Path(tempfile.mkdtemp(prefix="atributo-process-"))
        self._guard = Guard(self._directory)
        with open(self._directory / "output", "wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, ROOT / "manage.py", *self.arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env={**environment, "PYTHONUNBUFFERED": "1", **_marked(self._directory)},
                start_new_session=True,
            )
        self._guard.watch(self._process)

    @property
    def pid(self):
        return self._process.pid

    @property
    def returncode(self):
        """Return its exit code, or None while it runs."""
        return self._process.poll()

    def is_running(self):
        return self.returncode is None

    def output(self):
        return (self._directory / "output").read_text(errors="replace")

    def wait_for_line(self, text, timeout=60):
        """Return the first line with this text; AssertionError shows all output otherwise."""
        wait_until(lambda: self._line_with(text) or not self.is_running(), timeout, self._story())
        line = self._line_with(text)
        if line is None:
            raise AssertionError(f"it ended without a line with {text!r}: {self._story()}")
        return line

    def wait(self, timeout=60):
        """Wait until it ends by itself, and return its exit code."""
        wait_until(lambda: not self.is_running(), timeout, self._story())
        return self.returncode

    def send_signal(self, number):
        self._process.send_signal(number)

    def terminate(self, timeout=TERMINATE_SECONDS):
        """Ask it to end, and return its exit code."""
        self.send_signal(signal.SIGTERM)
        return self.wait(timeout)

    def kill(self):
        """Kill the process alone with -9, not its children."""
        self.send_signal(signal.SIGKILL)
        self._process.wait()

    def close(self):
        """Kill it and everything that it started."""
        while family := self.family():
            for process in family:
                with suppress(psutil.NoSuchProcess):  # it ended meanwhile
                    process.kill()
            psutil.wait_procs(family, timeout=1)
        self._process.wait()
        self._guard.close()

    def family(self):
        """Return the living processes that inherited the mark, also those without parents."""
        return [process for process in psutil.process_iter() if self._is_mine(process)]

    def _is_mine(self, process):
        try:
            return process.environ().get(MARK) == str(self._directory)
        except psutil.Error:  # ended meanwhile, a zombie, or somebody else's
            return False

    def _line_with(self, text):
        return next((line for line in self.output().splitlines() if text in line), None)

    def _story(self):
        return Story(self)


def _marked(directory):
    """Return the mark, and the setting that lets a worker's scripts keep it."""
    return {MARK: str(directory), "ATRIBUTO_SCRIPT_ENV": MARK}


class Story:
    """Hold what a failed wait reports, read only when it is reported."""

    def __init__(self, process):
        self._process = process

    def __str__(self):
        code = self._process.returncode
        state = "running" if code is None else f"ended with {code}"
        command = " ".join(self._process.arguments)
        return f"manage.py {command} ({state}) said:\n{self._process.output()}"
