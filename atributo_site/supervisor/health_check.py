"""Send one GET /healthz over a connection of its own, without waiting for the answer."""

import socket

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
YES = b"HTTP/1.1 200 "


class Question:
    def __init__(self, host: str, port: int) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self._socket.connect_ex((host, port))
        self._unsent, self._heard = REQUEST, b""

    def answered(self) -> bool | None:
        """Return whether it answered; None while nothing is known yet."""
        try:
            self._unsent = self._unsent[self._socket.send(self._unsent) :] if self._unsent else b""
            heard = self._socket.recv(len(YES))
        except BlockingIOError:  # it still connects, or the answer is not there yet
            return None
        except OSError:  # refused or cut
            return False
        self._heard += heard
        if heard and len(self._heard) < len(YES):
            return None
        return self._heard.startswith(YES)

    def close(self) -> None:
        self._socket.close()
