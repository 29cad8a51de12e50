"""A name server that is slow, or dead at first, costs the names behind it no more than that."""

from pools import DNSResolver
from pools.logic.dns.config import ResolverConfig
from pools.logic.dns.lookup import Ask, Forget, Lookup
from pools.logic.dns.reply import failed
from pools.logic.dns.resolver import ResolverMachine
from pools.logic.recovery import RecoverySpec
from pools.net.dns.transport import DNSTransport
from tests.pools.live import LONG

SPEC = RecoverySpec({"default": {"timeout": 500, "retries": 0, "delay": 20}})
PATIENT = {"default": {"timeout": LONG, "retries": 0, "delay": 5}}


def lookup(*servers):
    ids = iter(range(100))
    return Lookup("a.example", "A", SPEC.operation("dns"), lambda: servers, ids.__next__, float)


def test_the_limit_of_a_question_starts_when_it_is_sent():
    asked = lookup("10.0.0.1")
    [ask] = asked.ask(0)
    asked.hold(ask.id)
    assert asked.tick(10_000) == []
    asked.sent(ask.id, 10_000)
    assert asked.wake_at == 10_500
    assert asked.tick(10_499) == []
    assert asked.tick(10_500) == [Forget(ask.id)]
    assert asked.outcome.kind == "error"


def test_one_server_is_late_while_the_question_to_another_still_waits():
    asked = lookup("10.0.0.1", "10.0.0.2")
    first, second = asked.ask(0)
    asked.hold(second.id)
    assert asked.tick(500) == [Forget(first.id)]
    assert asked.outcome is None
    asked.sent(second.id, 600)
    asked.tick(1100)
    assert asked.outcome is not None


class StillDriver:
    """Does nothing by itself."""

    belongings = {}

    def call_soon(self, call):
        pass

    def add_reader(self, source, call):
        pass

    def remove_reader(self, source):
        pass

    remove_writer = remove_reader


def test_a_silent_server_holds_up_only_its_own_questions():
    transport = DNSTransport(StillDriver(), limit=2)
    sent = []
    silent = [
        transport.ask("127.0.0.1:9", f"n{i}.example", "A", print, lambda i=i: sent.append(i))
        for i in range(4)
    ]
    other = transport.ask("127.0.0.2:9", "n.example", "A", print)
    assert [each.has_started for each in silent] == [True, True, False, False]
    assert other.has_started
    silent[0].cancel()
    assert sent == [2]
    for exchange in [*silent, other]:
        exchange.cancel()


def test_more_names_than_questions_at_once_are_all_found(dns_server):
    """With 100 questions under way, the last of these names waits for fourteen others."""
    for i in range(700):
        dns_server.set(f"n{i}.example", "A", ["10.0.0.1"])
    server = [f"127.0.0.1:{dns_server.port}"]
    resolvers = [
        DNSResolver(f"n{i}.example", PATIENT, resolvers=server, has_ipv6=False) for i in range(700)
    ]
    for resolver in resolvers:
        resolver.start()
    states = {resolver.wait_for_state("running", "failed", timeout=LONG) for resolver in resolvers}
    for resolver in resolvers:
        resolver.stop()
    assert states == {"running"}


def test_a_resolver_that_starts_while_dns_is_dead_obeys_its_recovery_and_the_floor():
    recovery = RecoverySpec({"default": {"timeout": 100, "retries": 2, "delay": 1000}})
    config = ResolverConfig(domain="svc.example", recovery=recovery)
    machine = ResolverMachine(config, lambda: 0.0, ["10.0.0.1"], has_ipv6=False)
    now, actions = 0.0, machine.start(0.0)
    while machine.phase != "sleep":
        for ask in [action for action in actions if isinstance(action, Ask)]:
            actions = machine.answer(ask.id, failed("no route"), now)
        if machine.phase != "sleep" and not any(isinstance(a, Ask) for a in actions):
            now = machine.wake_at
            actions = machine.tick(now)
    assert machine.state == "failed"
    assert machine.wake_at - now == 5000  # the floor, which is longer than 4 seconds of delay
