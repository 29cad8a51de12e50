"""Learn that the process is asked to stop while the web server still waits for its streams."""

import asyncio
import signal
import threading
from collections.abc import Callable
from types import FrameType


def when_stopping(act: Callable[[], None]) -> None:
    """Call `act` in the event loop on SIGTERM and SIGINT, before whoever handles them now."""
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may handle signals
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        _chain(number, lambda: loop.call_soon_threadsafe(act))


def _chain(number: signal.Signals, first: Callable[[], object]) -> None:
    then = signal.getsignal(number)

    def handle(received: int, frame: FrameType | None) -> None:
        first()
        if callable(then):
            then(received, frame)

    if callable(then):
        signal.signal(number, handle)
