"""A forked process that talks with its test, to be stopped, continued and killed."""

import json
import os
import signal
from contextlib import contextmanager

from django.db import connections


class Child:
    """`tell(word)` lets it go on, `told()` waits for what it says."""

    def __init__(self, story):
        connections.close_all()  # parent and child must not share one
        here, there = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self._read, self._write = there[0], here[1]
            self._live(story)
        self._read, self._write = here[0], there[1]
        os.close(here[1])
        os.close(there[0])

    def tell(self, word="go on"):
        os.write(self._write, json.dumps(word).encode() + b"\n")

    def told(self):
        line = b""
        while not line.endswith(b"\n"):
            got = os.read(self._read, 1)
            assert got, "the other side is gone"
            line += got
        return json.loads(line)

    def stop(self):
        """Returns once it sleeps, or has ended before it could."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def go_on(self):
        os.kill(self.pid, signal.SIGCONT)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)

    def _live(self, story):
        try:
            story(self)
        finally:
            os._exit(0)


@contextmanager
def child(story):
    """A process that runs story(child), killed at the end."""
    process = Child(story)
    try:
        yield process
    finally:
        process.kill()
        os.waitpid(process.pid, 0)
        os.close(process._read)
        os.close(process._write)
