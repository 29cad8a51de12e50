"""The core of the command `resolve`: output and exit codes (B1)."""

import io
import re
import socket
import threading
import urllib.request

import pytest

from pools.net.dns.cbresolve import main
from tests.servers.dns.server import DNSServer
from tests.servers.ports import free_port
from tests.servers.waiting import wait_until


@pytest.fixture
def dns():
    with DNSServer() as server:
        server.set("svc.example", "A", ["10.0.0.1", "10.0.0.2"])
        yield server


def run(*argv, **options):
    stdout, stderr = io.StringIO(), io.StringIO()
    code = main(argv, stdout, stderr, environ={}, **options)
    return code, stdout.getvalue(), stderr.getvalue()


def ask(dns, *argv, **options):
    options.setdefault("resolver_options", {"has_ipv6": False})
    return run("-r", f"127.0.0.1:{dns.port}", *argv, **options)


def test_the_example_of_a_static_address():
    code, stdout, stderr = run("--static", "127.0.0.1:2020")
    assert (code, stderr) == (0, "using static IP resolver\n")
    assert stdout == "127.0.0.1         2020 xBut/f1D52k1TpDN/miW82qXw6k=\n"


def test_static_ipv6():
    code, stdout, _ = run("-S", "[::1]:80", "10.0.0.1:81")
    assert code == 0
    assert stdout.splitlines()[0] == "::1                 80 apgxp7JGsX0Yi6B4qHP2ktabkrM="
    assert len(stdout.splitlines()) == 2


def test_a_note_about_options_that_static_ignores():
    assert "note:" in run("-S", "-s", "_x._tcp", "127.0.0.1:1")[2]


def test_a_kang_port_in_use_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, stdout, stderr = run("-k", str(port), "-S", "127.0.0.1:1")
    assert (code, stdout) == (1, "")
    assert f"error: port {port} cannot be served" in stderr


def test_a_name(dns):
    code, stdout, stderr = ask(dns, "svc.example")
    assert code == 0
    server = f"127.0.0.1:{dns.port}"
    assert stderr == f"domain: svc.example\ntimeout: 5000 milliseconds\nresolvers: {server}\n"
    lines = sorted(stdout.splitlines())
    assert [line[:22] for line in lines] == ["10.0.0.1            80", "10.0.0.2            80"]


def test_b1_all_options(dns):
    dns.set("_x._udp.svc.example", "SRV", [(0, 0, 99, "a.svc.example")])
    dns.set("a.svc.example", "A", ["10.0.0.3"])
    code, stdout, stderr = ask(dns, "-s", "_x._udp", "-p", "7", "-t", "60s", "svc.example")
    assert code == 0
    assert stdout.startswith("10.0.0.3            99 ")
    assert "timeout: 60000 milliseconds\nservice: _x._udp\nport: 7\n" in stderr


def test_the_port_that_is_typed_wins(dns):
    assert "10.0.0.1             8 " in ask(dns, "-p", "7", "svc.example:8")[1]


def test_an_address_with_a_default_port():
    code, stdout, _ = run("-p", "80", "::1")
    assert (code, stdout[:22]) == (0, "::1                 80")


def test_a_name_that_is_not_found(dns, caplog):
    caplog.set_level("INFO", "pools")
    code, stdout, stderr = ask(dns, "nowhere.example")
    assert (code, stdout) == (1, "")
    assert "error: failed to find any DNS records for (_http._tcp.)nowhere.example" in stderr
    assert caplog.records == []  # once is enough


def test_each_step_is_tried_once(dns):
    dns.fault("svc.example", "A", "servfail")
    assert ask(dns, "svc.example")[0] == 1
    assert [name for name, rdtype, _ in dns.queries if rdtype == "A"] == ["svc.example"]


def test_follow_and_static_exclude_each_other():
    assert run("-f", "-S", "127.0.0.1:1")[0] == 1


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["a.example", "b.example"],
        ["--what", "a.example"],
        ["-x", "a.example"],
        ["-p"],
        ["-p", "70000", "a.example"],
        ["-p", "eighty", "a.example"],
        ["-k", "-1", "a.example"],
        ["-t", "0", "a.example"],
        ["-t", "5h", "a.example"],
        ["-t", "1.5s", "a.example"],
        ["-r", "a.example,b.example", "c.example"],
        ["a.example:0"],
        ["http://a.example"],
        ["no good"],
        ["127.0.0.1"],
        ["-S", "host:80"],
        ["-S"],
        ["--help"],
    ],
)
def test_b1_usage(argv):
    code, stdout, stderr = run(*argv)
    assert (code, stdout) == (2, "")
    assert "usage: resolve HOSTNAME[:PORT]" in stderr


@pytest.mark.parametrize(
    ("text", "line"), [("1", "1 millisecond\n"), ("1500ms", "1500 milliseconds"), ("1m", "60000 m")]
)
def test_timeouts(dns, text, line):
    assert f"timeout: {line}" in ask(dns, "-t", text, "-r", "127.0.0.1:1", "svc.example")[2]


class Following:
    """Run the command in a thread; it reports changes until it is stopped."""

    def __init__(self, dns, *argv, **options):
        self.stdout, self.stderr, self.stop = io.StringIO(), io.StringIO(), threading.Event()
        options = {"has_ipv6": False, "ttl_floor": 1, **options}
        arguments = ["-f", "-r", f"127.0.0.1:{dns.port}", *argv]
        self._thread = threading.Thread(
            target=lambda: setattr(self, "code", self._main(arguments, options))
        )

    def _main(self, arguments, options):
        files = (self.stdout, self.stderr, self.stop)
        return main(arguments, *files, environ={}, resolver_options=options)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self._thread.join()


LINE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z %s +%s:80    \([\w+/]+=\)"


def test_follow_reports_changes(dns):
    dns.set("svc.example", "A", ["10.0.0.1"], ttl=0)
    with Following(dns, "svc.example") as following:
        wait_until(lambda: "10.0.0.1" in following.stdout.getvalue())
        dns.set("svc.example", "A", ["10.0.0.2"], ttl=0)
        wait_until(lambda: "10.0.0.2" in following.stdout.getvalue())
    first, second, third = following.stdout.getvalue().splitlines()[:3]
    assert re.fullmatch(LINE % ("added  ", "10.0.0.1"), first)
    assert re.fullmatch(LINE % ("removed", "10.0.0.1"), second)
    assert re.fullmatch(LINE % ("added  ", "10.0.0.2"), third)
    assert following.code == 0


def test_follow_tells_a_failure_once(dns):
    dns.fault("*", "*", "refused")
    with Following(dns, "svc.example") as following:
        wait_until(lambda: "error: " in following.stderr.getvalue())
        dns.clear_faults()
    assert following.stderr.getvalue().count("error: ") == 1


def test_a_snapshot_can_be_looked_at_while_following(dns):
    port = free_port()
    with Following(dns, "-k", str(port), "svc.example") as following:
        wait_until(lambda: following.stdout.getvalue())
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/kang/snapshot") as response:
            assert b"svc.example" in response.read()


def test_logs_and_stacks_on_demand(dns):
    stdout, stderr = io.StringIO(), io.StringIO()
    assert main(["no good"], stdout, stderr, environ={"DEBUG": "1"}) == 2
    assert "Traceback" in stderr.getvalue()
