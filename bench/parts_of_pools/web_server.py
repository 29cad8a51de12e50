"""Run a web server that does almost nothing; print its port, serve until stdin ends."""

import socket
import sys
import threading

BODY = b"x" * 100
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\n" + BODY


def serve(peer):
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while data := peer.recv(65536):
        if data.endswith(b"\r\n\r\n"):
            peer.sendall(ANSWER)


def accept(listener):
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=serve, args=(peer,), daemon=True).start()


if __name__ == "__main__":
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept, args=(server,), daemon=True).start()
    print(server.getsockname()[1], flush=True)
    sys.stdin.read()
