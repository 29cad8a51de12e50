"""A web server that answers what a test says, byte by byte."""

import socket
import threading

from tests.servers.ports import stop_listening


class Script:
    """A server that answers each request with the next bytes, and remembers what it was asked."""

    def __init__(self, *answers):
        self._answers = list(answers)
        self.asked = []

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self._server = threading.Thread(target=self._serve, daemon=True)
        self._server.start()
        return self

    def _serve(self):
        while self._answers:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(peer,), daemon=True).start()

    def _talk(self, peer):
        with peer:
            while data := peer.recv(65536):
                self.asked.append(data)
                if not data.endswith((b"\r\n\r\n", b"}", b"=1", b"abc")):
                    continue
                answer = self._answers.pop(0)
                peer.sendall(answer)
                if b"Connection: close" in answer or not answer:
                    return

    def __exit__(self, *_):
        stop_listening(self._listener, self._server)


def answer(body=b"ok", status="200 OK", **headers):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body
