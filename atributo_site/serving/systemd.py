"""Tell systemd that the web server is up and alive: READY=1, then WATCHDOG=1.

The event loop does it, as it answers /healthz: if it hangs, nothing is sent.
"""

import asyncio
import os
import socket
from collections.abc import Mapping

import structlog

log = structlog.get_logger("atributo.notify")


class Notify:
    """Send words to systemd; nothing where NOTIFY_SOCKET is not set."""

    def __init__(self, environ: Mapping[str, str], pid: int) -> None:
        self._address = environ.get("NOTIFY_SOCKET", "").replace("@", "\0", 1)
        is_ours = environ.get("WATCHDOG_PID", str(pid)) == str(pid)
        self.beat_seconds = int(environ.get("WATCHDOG_USEC", "0")) / 2e6 if is_ours else 0.0

    @classmethod
    def of_this_process(cls) -> "Notify":
        return cls(os.environ, os.getpid())

    def say(self, word: str) -> None:
        """Send without waiting: what gets lost is sent again with the next beat."""
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.setblocking(False)
                sender.sendto(word.encode(), self._address)
        except OSError as error:
            log.warning("notify_failed", word=word, error=str(error))

    async def beat(self) -> None:
        """Beat for ever, twice within the time after which systemd takes silence for death."""
        while self._address and self.beat_seconds:
            self.say("WATCHDOG=1")
            await asyncio.sleep(self.beat_seconds)
