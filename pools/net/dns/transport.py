"""Send questions: UDP first, TCP when the answer is too long, many at once."""

import random
import socket
from collections import Counter, deque
from collections.abc import Callable

from pools.logic.dns.names import parse_host_port
from pools.logic.dns.reply import LookupResult, failed, lookup_result
from pools.net.dns.tcp import TCPExchange
from pools.net.dns.udp import UDPExchange
from pools.net.dns.wire import Question
from pools.net.runtime.driver import Driver

DNS_PORT = 53
REMEMBERED = 4096
Answered = Callable[[LookupResult], None]
Asked = tuple[str, str, str]  # server, name, type


class DNSTransport:
    """Shared by all resolvers of a driver; used only on the driver's thread.

    Each nameserver has its own queue, so that a silent one delays only what it was asked itself.
    """

    def __init__(self, driver: Driver, limit: int = 100) -> None:
        self._driver = driver
        self._limit = limit
        self._under_way: Counter[str] = Counter()
        self._waiting: dict[str, deque[Exchange]] = {}
        self._long_answers: dict[Asked, None] = {}
        self._random = random.SystemRandom()

    def ask(
        self,
        server: str,
        name: str,
        rdtype: str,
        answered: Answered,
        sent: Callable[[], None] | None = None,
    ) -> "Exchange":
        """Ask now, or when others are answered; `sent` is called only in the second case."""
        exchange = Exchange(self, server, name, rdtype, answered)
        if self._under_way[server] < self._limit:
            self._start(exchange)
        else:
            exchange.sent = sent
            self._waiting.setdefault(server, deque()).append(exchange)
        return exchange

    def _start(self, exchange: "Exchange") -> None:
        self._under_way[exchange.server] += 1
        exchange.start(self._driver, self._random.getrandbits(16))

    def finished(self, exchange: "Exchange") -> None:
        server = exchange.server
        waiting = self._waiting.get(server)
        if not exchange.has_started:
            if waiting is not None:
                waiting.remove(exchange)
            return
        self._under_way[server] -= 1
        if waiting:
            following = waiting.popleft()
            self._start(following)
            if following.sent is not None:
                following.sent()
        elif not self._under_way[server]:
            del self._under_way[server]
            self._waiting.pop(server, None)

    def expects_long_answer(self, question: Asked) -> bool:
        return question in self._long_answers

    def remember_long_answer(self, question: Asked) -> None:
        self._long_answers[question] = None
        if len(self._long_answers) > REMEMBERED:
            del self._long_answers[next(iter(self._long_answers))]

    def forget_long_answer(self, question: Asked) -> None:
        self._long_answers.pop(question, None)


class Exchange:
    """Ask one nameserver one question; `answered` is called once, unless it is cancelled."""

    def __init__(
        self, transport: DNSTransport, server: str, name: str, rdtype: str, answered: Answered
    ) -> None:
        self.has_started = False
        self._transport = transport
        self._asked = (server, name, rdtype)
        self.server = server
        self.sent: Callable[[], None] | None = None
        self._name = name
        self._rdtype = rdtype
        self._answered: Answered | None = answered
        self._wire: UDPExchange | TCPExchange | None = None

    def start(self, driver: Driver, id: int) -> None:
        self.has_started = True
        self._driver = driver
        self._question = Question(id, self._name, self._rdtype)
        if self._transport.expects_long_answer(self._asked):
            self._start_tcp()
        else:
            self._start_udp()

    def cancel(self) -> None:
        if self._answered is not None:
            self._finish()

    def _start_udp(self) -> None:
        address = socket_address(self.server)
        self._wire = UDPExchange(self._driver, address, self._question, self)
        self._wire.start()

    def _start_tcp(self) -> None:
        address = socket_address(self.server)
        self._wire = TCPExchange(self._driver, address, self._question, self)
        self._wire.start()

    def truncated(self) -> None:
        """Ask over TCP from now on, because the whole answer did not fit."""
        self._transport.remember_long_answer(self._asked)
        self._start_tcp()

    def received(self, wire: bytes) -> bool:
        """Return False for bytes that are no DNS message: the real answer may still come."""
        from pools.net.dns.answers import parse_reply  # when the first answer comes

        reply = parse_reply(wire)
        if reply is None:
            return False
        self._finish(lookup_result(reply, self._name, self._rdtype))
        return True

    def broke(self, error: OSError | str) -> None:
        if self._answered is not None:
            self._transport.forget_long_answer(self._asked)
            self._finish(failed(str(error)))

    def _finish(self, outcome: LookupResult | None = None) -> None:
        answered, self._answered = self._answered, None
        if self._wire is not None:
            self._wire.close()
        self._transport.finished(self)
        if outcome is not None and answered is not None:
            answered(outcome)


def socket_address(server: str) -> tuple[int, str, int]:
    """Return family, address and port of "address", "address:port" or "[address]:port"."""
    parsed = parse_host_port(server)
    family = socket.AF_INET6 if ":" in parsed.host else socket.AF_INET
    return family, parsed.host, parsed.port or DNS_PORT
