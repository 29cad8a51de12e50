"""A small network on loopback for the demo: a name server, three web servers and their traffic.

`up` starts this beside the site when it has made demo content: python -m atributo_site.demo.network
PORT. The name server has that port and the web servers the next three. The pool of this process is
on the screen of live pools, and the site watches the same name.
"""

import os
import random
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

from atributo_site.demo.ports import DOMAIN, HOST, SERVERS, web_ports

TTL = 10
CLIENTS = 3
PAUSE_SECONDS = (0.1, 1.5)  # between two requests of a client
ANSWER_SECONDS = (0.01, 0.3)
LONGEST_QUESTION = 4096


def main(port: int) -> None:
    """Serve until the supervisor ends it; only then watch the name, so that it is found at once."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
    django.setup()
    from atributo_site.demo.pools import watch
    from pools import HttpAgent
    from pools.reporting.process_report import reporting

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with ExitStack() as running:
        running.enter_context(name_server(port))
        for each in web_ports(port):
            running.enter_context(web_server(each))
        watch(port)
        agent = running.enter_context(HttpAgent(resolvers=[f"{HOST}:{port}"], spares=2, maximum=6))
        running.enter_context(reporting("demo"))
        clients = [threading.Thread(target=browse, args=(agent, stop)) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()


@contextmanager
def name_server(port: int) -> Iterator[None]:
    """Answer questions by UDP from a thread."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind((HOST, port))
        thread = threading.Thread(target=_answer_all, args=(listener, port), daemon=True)
        thread.start()
        try:
            yield
        finally:
            listener.sendto(b"", (HOST, port))  # an empty question ends the thread
            thread.join(timeout=1)


def _answer_all(listener: socket.socket, port: int) -> None:
    while True:
        try:
            wire, asker = listener.recvfrom(LONGEST_QUESTION)
        except OSError:  # closed
            return
        if not wire:
            return
        try:
            listener.sendto(answer(wire, port), asker)
        except (dns.exception.DNSException, OSError, IndexError):
            continue


def answer(wire: bytes, port: int) -> bytes:
    """Return SRV records of the name, addresses of its servers, and NXDOMAIN for all others."""
    query = dns.message.from_wire(wire)
    response = dns.message.make_response(query)
    response.flags |= dns.flags.AA
    question = query.question[0]
    name = question.name.to_text().rstrip(".").lower()
    kind = dns.rdatatype.to_text(question.rdtype)
    known = records(port)
    if name not in known:
        response.set_rcode(dns.rcode.NXDOMAIN)
    elif kind in known[name]:
        response.answer.append(
            dns.rrset.from_text_list(question.name, TTL, "IN", kind, known[name][kind])
        )
    return response.to_wire()


def records(port: int) -> dict[str, dict[str, list[str]]]:
    servers = [f"{name}.{DOMAIN}" for name in SERVERS]
    places = zip(web_ports(port), servers, strict=True)
    return {
        DOMAIN: {},
        f"_http._tcp.{DOMAIN}": {"SRV": [f"0 10 {at} {name}." for at, name in places]},
        **{name: {"A": [HOST]} for name in servers},
    }


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        threading.Event().wait(random.uniform(*ANSWER_SECONDS))  # nosec B311 # how long it takes
        body = b"The demo answers.\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Say nothing: the console shows the traffic."""


@contextmanager
def web_server(port: int) -> Iterator[None]:
    with ThreadingHTTPServer((HOST, port), Answer) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()


def browse(agent: Any, stop: threading.Event) -> None:
    """Ask for the page again and again; what fails is on the screen of the pool."""
    from pools.logic.errors import PoolsError

    while not stop.wait(random.uniform(*PAUSE_SECONDS)):  # nosec B311 # traffic of people
        try:
            agent.get(f"http://{DOMAIN}/", timeout=5)
        except (PoolsError, OSError):
            continue


if __name__ == "__main__":
    main(int(sys.argv[1]))
