"""Notice when a peer closes a connection, without touching the connection."""

import select
from collections.abc import Callable
from typing import Any

from pools.net.runtime.driver import Driver

HANGUP = getattr(select, "EPOLLRDHUP", 0) | getattr(select, "EPOLLONESHOT", 0)


def file_number(connection: Any) -> int:
    """Return the descriptor of a socket, or of an object that has one inside; -1 for none."""
    try:
        return _number(connection)
    except Exception:  # each kind of connection has its own error for being closed
        return -1


def _number(connection: Any) -> int:
    for owner in (connection, getattr(connection, "sock", None)):
        fileno = getattr(owner, "fileno", None)
        if callable(fileno):
            number = fileno()
            return number if isinstance(number, int) else -1
    info = getattr(connection, "get_extra_info", None)
    inner = info("socket") if callable(info) else None
    return int(inner.fileno()) if inner is not None else -1


class HangupWatch:
    """Watch each descriptor once, so that claims and releases cost nothing extra.

    Without epoll nothing is watched, and the next user of the connection notices.
    """

    def __init__(self, driver: Driver) -> None:
        self._calls: dict[int, Callable[[], None]] = {}
        self._epoll = select.epoll() if hasattr(select, "epoll") else None
        if self._epoll is not None:
            driver.call_soon(lambda: driver.add_reader(self._epoll, self._ready))

    def watch(self, connection: Any, call: Callable[[], None]) -> None:
        number = file_number(connection)
        if self._epoll is None or number < 0:
            return
        self._calls[number] = call
        try:
            self._epoll.register(number, HANGUP)
        except FileExistsError:  # a duplicate of a descriptor that was watched before
            self._epoll.modify(number, HANGUP)
        except OSError:  # not a socket after all, or closed meanwhile
            self._calls.pop(number, None)

    def forget(self, connection: Any) -> None:
        """Call this before the connection is closed, while the number is still its own."""
        number = file_number(connection)
        if self._epoll is not None and self._calls.pop(number, None) is not None:
            try:
                self._epoll.unregister(number)
            except OSError:  # the kernel forgot it already
                return

    def _ready(self) -> None:
        assert self._epoll is not None
        calls = [self._calls.get(number) for number, _ in self._epoll.poll(0)]
        for call in calls:
            if call is not None:
                call()
